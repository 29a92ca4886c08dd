/** Generated from the kinds by `npm run generate`. */
export const kinds = [{"name":"teammate","plural":"teammates"},{"name":"customer","plural":"customers"},{"name":"conversation","plural":"conversations"},{"name":"message","plural":"messages"},{"name":"ticket","plural":"tickets"},{"name":"booking","plural":"bookings"}] as const

export const scopes = ["teammates:read","teammates:write","customers:read","customers:write","conversations:read","conversations:write","messages:read","messages:write","tickets:read","tickets:write","bookings:read","bookings:write","webhooks:read","webhooks:write","api_keys:manage","*"] as const

export const eventTypes = ["customer.created","customer.updated","customer.deleted","conversation.created","conversation.assigned","conversation.escalated","conversation.resolved","conversation.summarized","message.received","message.sent","ticket.created","ticket.updated","ticket.status_changed","ticket.assigned","ticket.deleted","booking.created","booking.confirmed","booking.rescheduled","booking.cancelled","booking.completed","booking.no_show","booking.rejected"] as const
