// Made by `npm run generate` from openapi.json.

/** name, method, path, summary, flags of the query, flags of the body. `!` is required, `[]` a list, `#` a number, `?` a switch, `{}` JSON. */
export const operationLines = `
teammates list	GET	/teammates	List or sync teammates	limit# offset# after updatedAfter cursor wait# ids email createdAfter createdBefore q	
teammates create	POST	/teammates	Create a teammate	dryRun?	name! email active?
teammates get	GET	/teammates/{id}	Read a teammate		
teammates update	PATCH	/teammates/{id}	Change a teammate	dryRun?	name email active?
teammates delete	DELETE	/teammates/{id}	Delete a teammate	dryRun?	
customers list	GET	/customers	List or sync customers	limit# offset# after updatedAfter cursor wait# ids email phone externalId tag customAttribute createdAfter createdBefore q	
customers create	POST	/customers	Create a customer	dryRun?	name company email phone locale timezone externalId tags[] customAttributes{}
customers get	GET	/customers/{id}	Read a customer		
customers update	PATCH	/customers/{id}	Change a customer	dryRun?	name company email phone locale timezone externalId tags[] customAttributes{}
customers delete	DELETE	/customers/{id}	Delete a customer	dryRun?	
customers erase	POST	/customers/{id}/erase	Erase a customer with everything of theirs		
customers export-one	GET	/customers/{id}/export	Everything about one customer		
conversations list	GET	/conversations	List or sync conversations	limit# offset# after updatedAfter cursor wait# ids customerId channel=email|chat|sms|whatsapp|phone|api status=open|resolved handledBy=ai|human assigneeId externalId tag customAttribute createdAfter createdBefore q	
conversations create	POST	/conversations	Create a conversation	dryRun?	customerId! channel!=email|chat|sms|whatsapp|phone|api subject handledBy=ai|human assigneeId externalId tags[] customAttributes{}
conversations get	GET	/conversations/{id}	Read a conversation		
conversations update	PATCH	/conversations/{id}	Change a conversation	dryRun?	subject assigneeId externalId tags[] customAttributes{}
conversations delete	DELETE	/conversations/{id}	Delete a conversation	dryRun?	
conversations escalate	POST	/conversations/{id}/escalate	Hands it from an AI to a person.	dryRun?	
conversations resolve	POST	/conversations/{id}/resolve	Closes it. Its summary is written some minutes later.	dryRun?	
conversations reopen	POST	/conversations/{id}/reopen	Opens it again; resolvedAt, summary and summarizedAt become null.	dryRun?	
conversations summarize	POST	/conversations/{id}/summarize	Writes the summary of a resolved conversation, as an AI outside does.	dryRun?	summary!
messages list	GET	/messages	List or sync messages	limit# offset# after updatedAfter cursor wait# ids conversationId direction=inbound|outbound externalId customerId createdAfter createdBefore q	
messages create	POST	/messages	Create a message	dryRun?	conversationId! direction!=inbound|outbound author!{} body contentType=text|html|markdown attachments{} sentAt externalId
messages get	GET	/messages/{id}	Read a message		
messages delete	DELETE	/messages/{id}	Delete a message	dryRun?	
notes list	GET	/notes	List or sync notes	limit# offset# after updatedAfter cursor wait# ids conversationId customerId createdAfter createdBefore q	
notes create	POST	/notes	Create a note	dryRun?	conversationId! author!{} body!
notes get	GET	/notes/{id}	Read a note		
notes update	PATCH	/notes/{id}	Change a note	dryRun?	body
notes delete	DELETE	/notes/{id}	Delete a note	dryRun?	
tickets list	GET	/tickets	List or sync tickets	limit# offset# after updatedAfter cursor wait# ids customerId conversationId number# type=question|incident|problem|task priority=low|normal|high|urgent status=new|open|pending|on_hold|resolved|closed assigneeId externalId tag customAttribute createdAfter createdBefore overdue=true q	
tickets create	POST	/tickets	Create a ticket	dryRun?	customerId! conversationId subject! description type=question|incident|problem|task priority=low|normal|high|urgent status=new|open|pending|on_hold|resolved|closed assigneeId dueAt externalId tags[] customAttributes{}
tickets get	GET	/tickets/{id}	Read a ticket		
tickets update	PATCH	/tickets/{id}	Change a ticket	dryRun?	conversationId subject description type=question|incident|problem|task priority=low|normal|high|urgent status=new|open|pending|on_hold|resolved|closed assigneeId dueAt externalId tags[] customAttributes{}
tickets delete	DELETE	/tickets/{id}	Delete a ticket	dryRun?	
bookings list	GET	/bookings	List or sync bookings	limit# offset# after updatedAfter cursor wait# ids customerId status=pending|confirmed|cancelled|completed|no_show|rejected assigneeId externalId tag customAttribute createdAfter createdBefore startAfter startBefore endAfter endBefore q	
bookings create	POST	/bookings	Create a booking	dryRun?	customerId! title! startAt! endAt! timezone! status=pending|confirmed location{} assigneeId conversationId notes externalId tags[] customAttributes{}
bookings get	GET	/bookings/{id}	Read a booking		
bookings update	PATCH	/bookings/{id}	Change a booking	dryRun?	customerId title timezone location{} assigneeId conversationId notes externalId tags[] customAttributes{}
bookings delete	DELETE	/bookings/{id}	Delete a booking	dryRun?	
bookings confirm	POST	/bookings/{id}/confirm	Confirms a pending booking.	dryRun?	
bookings reject	POST	/bookings/{id}/reject	Turns a pending booking down.	dryRun?	reason
bookings cancel	POST	/bookings/{id}/cancel	Cancels a booking that has not taken place.	dryRun?	by!=customer|teammate|system reason
bookings reschedule	POST	/bookings/{id}/reschedule	Moves it to another time; it stays pending or confirmed.	dryRun?	startAt! endAt
bookings complete	POST	/bookings/{id}/complete	It took place: from startAt on. Corrects a no-show too.	dryRun?	
bookings no-show	POST	/bookings/{id}/no-show	The customer did not come: from startAt on. Corrects a completion too.	dryRun?	
inbox list	GET	/inbox	List open conversations by how long the customer waits	limit# after afterSince awaitingReply=true|false customerId channel=email|chat|sms|whatsapp|phone|api handledBy=ai|human assigneeId externalId tag customAttribute createdAfter createdBefore q	
inbox counts	GET	/inbox/counts	Count the conversations of the inbox	assigneeId	
webhooks list	GET	/webhooks	List endpoints	limit# offset# status=active|paused|disabled createdAfter createdBefore	
webhooks create	POST	/webhooks	Register an endpoint		endpoint:url! description events![] signatures[] expiresAt headers{} rateLimit# maxConcurrent# format=envelope|mcp payload=full|thin honorRetryAfter? disableOn410? conditions{} changedFields? includeActor? skipOwn? coalesce# metadata{} secret verify?
webhooks get	GET	/webhooks/{id}	Read an endpoint		
webhooks update	PATCH	/webhooks/{id}	Change an endpoint, pause or disable it, or make it active again		endpoint:url description events[] signatures[] expiresAt headers{} rateLimit# maxConcurrent# format=envelope|mcp payload=full|thin honorRetryAfter? disableOn410? conditions{} changedFields? includeActor? skipOwn? coalesce# metadata{} status=active|paused|disabled
webhooks delete	DELETE	/webhooks/{id}	Delete an endpoint with its log		
webhooks rotate-secret	POST	/webhooks/{id}/rotate-secret	Replace the secret; the old one signs as well for a while		secret overlap#
webhooks delete-previous-secret	DELETE	/webhooks/{id}/previous-secret	End the overlap: only the newest secret signs		
webhooks ping	POST	/webhooks/{id}/ping	Send a ping: one attempt, also while disabled		
webhooks deliveries	GET	/webhooks/{id}/deliveries	The delivery log, newest first	limit# offset# status=pending|succeeded|failed|skipped|undelivered eventType eventId createdAfter createdBefore	
webhooks retry-now	POST	/webhooks/{id}/retry-now	Attempt now what waits for a later attempt		
webhooks recover	POST	/webhooks/{id}/recover	Bring back what an endpoint has missed	dryRun?	since! until includeBeforeCreation? includeSucceeded?
webhooks recoveries	GET	/webhooks/{id}/recoveries	An endpoint's recoveries, newest first	limit# offset#	
webhooks stats	GET	/webhooks/{id}/stats	Results of an endpoint's deliveries in steps of time	from to step=1m|1h|1d	
webhooks addresses	GET	/../.well-known/webhook-addresses.json	The addresses that deliveries come from		
webhooks public-keys	GET	/../.well-known/jwks.json	The public keys that verify deliveries	organizationId	
deliveries list	GET	/deliveries	The delivery log of all endpoints, newest first	limit# offset# status=pending|succeeded|failed|skipped|undelivered eventType eventId createdAfter createdBefore webhookId	
deliveries get	GET	/webhooks/{id}/deliveries/{deliveryId}	Read a delivery		
deliveries attempts	GET	/webhooks/{id}/deliveries/{deliveryId}/attempts	A delivery's attempts, newest first	limit# offset#	
deliveries payload	GET	/webhooks/{id}/deliveries/{deliveryId}/payload	Read the body that the delivery would have now		
deliveries retry	POST	/webhooks/{id}/deliveries/{deliveryId}/retry	Send a failed delivery again		
deliveries resend	POST	/webhooks/{id}/deliveries/{deliveryId}/resend	Send an event that has arrived once more		
deliveries stats	GET	/stats	Results of deliveries, and changes, in steps of time	from to step=1m|1h|1d	
recoveries get	GET	/webhooks/{id}/recoveries/{recoveryId}	Read how far a recovery is		
events list	GET	/events	Read events, oldest first	types subject createdAfter cursor include=actor limit# wait#	
api-keys list	GET	/api-keys	List keys	limit# offset# createdAfter createdBefore revoked=true|false	
api-keys create	POST	/api-keys	Make a key		name! scopes![] expiresAt
api-keys self	GET	/api-keys/self	Read the key that makes the call		
api-keys get	GET	/api-keys/{id}	Read a key		
api-keys update	PATCH	/api-keys/{id}	Change name, scopes or expiry of a key		name scopes[] expiresAt
api-keys delete	DELETE	/api-keys/{id}	Revoke a key at once		
api-keys rotate	POST	/api-keys/{id}/rotate	Replace the token; the old one works 24 hours more		
api-keys delete-previous-token	DELETE	/api-keys/{id}/previous-token	End the overlap: only the newest token works		
console-links create	POST	/console-links	Make a link to the console for somebody without a key		scopes![] expiresIn#
console-links delete	DELETE	/console-links/{id}	End a link and its session at once		
organization get	GET	/organization	Read the organization		
organization update	PATCH	/organization	Change the organization		name preventDoubleBooking?
`
