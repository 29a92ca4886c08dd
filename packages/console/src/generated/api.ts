/** Generated from openapi.json by `npm run generate`. */
export interface paths {
    "/v1/teammates": {
        parameters: {
        };
        get: operations["listTeammates"];
        post: operations["createTeammate"];
    };
    "/v1/teammates/{id}": {
        parameters: {
        };
        get: operations["getTeammate"];
        patch: operations["updateTeammate"];
    };
    "/v1/teammates/batch": {
        parameters: {
        };
        post: operations["batchTeammates"];
    };
    "/v1/teammates/export": {
        parameters: {
        };
        get: operations["exportTeammates"];
    };
    "/v1/teammates/digests": {
        parameters: {
        };
        get: operations["digestTeammates"];
    };
    "/v1/customers": {
        parameters: {
        };
        get: operations["listCustomers"];
        post: operations["createCustomer"];
    };
    "/v1/customers/{id}": {
        parameters: {
        };
        get: operations["getCustomer"];
        delete: operations["deleteCustomer"];
        patch: operations["updateCustomer"];
    };
    "/v1/customers/batch": {
        parameters: {
        };
        post: operations["batchCustomers"];
    };
    "/v1/customers/export": {
        parameters: {
        };
        get: operations["exportCustomers"];
    };
    "/v1/customers/digests": {
        parameters: {
        };
        get: operations["digestCustomers"];
    };
    "/v1/conversations": {
        parameters: {
        };
        get: operations["listConversations"];
        post: operations["createConversation"];
    };
    "/v1/conversations/{id}": {
        parameters: {
        };
        get: operations["getConversation"];
        patch: operations["updateConversation"];
    };
    "/v1/conversations/{id}/escalate": {
        parameters: {
        };
        post: operations["escalateConversation"];
    };
    "/v1/conversations/{id}/resolve": {
        parameters: {
        };
        post: operations["resolveConversation"];
    };
    "/v1/conversations/{id}/reopen": {
        parameters: {
        };
        post: operations["reopenConversation"];
    };
    "/v1/conversations/{id}/summarize": {
        parameters: {
        };
        post: operations["summarizeConversation"];
    };
    "/v1/conversations/batch": {
        parameters: {
        };
        post: operations["batchConversations"];
    };
    "/v1/conversations/export": {
        parameters: {
        };
        get: operations["exportConversations"];
    };
    "/v1/conversations/digests": {
        parameters: {
        };
        get: operations["digestConversations"];
    };
    "/v1/messages": {
        parameters: {
        };
        get: operations["listMessages"];
        post: operations["createMessage"];
    };
    "/v1/messages/{id}": {
        parameters: {
        };
        get: operations["getMessage"];
    };
    "/v1/messages/batch": {
        parameters: {
        };
        post: operations["batchMessages"];
    };
    "/v1/messages/export": {
        parameters: {
        };
        get: operations["exportMessages"];
    };
    "/v1/messages/digests": {
        parameters: {
        };
        get: operations["digestMessages"];
    };
    "/v1/tickets": {
        parameters: {
        };
        get: operations["listTickets"];
        post: operations["createTicket"];
    };
    "/v1/tickets/{id}": {
        parameters: {
        };
        get: operations["getTicket"];
        delete: operations["deleteTicket"];
        patch: operations["updateTicket"];
    };
    "/v1/tickets/batch": {
        parameters: {
        };
        post: operations["batchTickets"];
    };
    "/v1/tickets/export": {
        parameters: {
        };
        get: operations["exportTickets"];
    };
    "/v1/tickets/digests": {
        parameters: {
        };
        get: operations["digestTickets"];
    };
    "/v1/bookings": {
        parameters: {
        };
        get: operations["listBookings"];
        post: operations["createBooking"];
    };
    "/v1/bookings/{id}": {
        parameters: {
        };
        get: operations["getBooking"];
        patch: operations["updateBooking"];
    };
    "/v1/bookings/{id}/confirm": {
        parameters: {
        };
        post: operations["confirmBooking"];
    };
    "/v1/bookings/{id}/reject": {
        parameters: {
        };
        post: operations["rejectBooking"];
    };
    "/v1/bookings/{id}/cancel": {
        parameters: {
        };
        post: operations["cancelBooking"];
    };
    "/v1/bookings/{id}/reschedule": {
        parameters: {
        };
        post: operations["rescheduleBooking"];
    };
    "/v1/bookings/{id}/complete": {
        parameters: {
        };
        post: operations["completeBooking"];
    };
    "/v1/bookings/{id}/no-show": {
        parameters: {
        };
        post: operations["noShowBooking"];
    };
    "/v1/bookings/batch": {
        parameters: {
        };
        post: operations["batchBookings"];
    };
    "/v1/bookings/export": {
        parameters: {
        };
        get: operations["exportBookings"];
    };
    "/v1/bookings/digests": {
        parameters: {
        };
        get: operations["digestBookings"];
    };
    "/v1/changes": {
        parameters: {
        };
        get: operations["listChanges"];
    };
    "/v1/webhooks": {
        parameters: {
        };
        get: operations["listWebhooks"];
        post: operations["createWebhook"];
    };
    "/v1/webhooks/{id}": {
        parameters: {
        };
        get: operations["getWebhook"];
        delete: operations["deleteWebhook"];
        patch: operations["updateWebhook"];
    };
    "/v1/webhooks/{id}/rotate-secret": {
        parameters: {
        };
        post: operations["rotateWebhookSecret"];
    };
    "/v1/webhooks/{id}/previous-secret": {
        parameters: {
        };
        delete: operations["deletePreviousWebhookSecret"];
    };
    "/v1/webhooks/{id}/ping": {
        parameters: {
        };
        post: operations["pingWebhook"];
    };
    "/v1/deliveries": {
        parameters: {
        };
        get: operations["listAllDeliveries"];
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
        };
        get: operations["listDeliveries"];
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}": {
        parameters: {
        };
        get: operations["getDelivery"];
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}/attempts": {
        parameters: {
        };
        get: operations["listAttempts"];
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}/payload": {
        parameters: {
        };
        get: operations["getDeliveryPayload"];
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}/retry": {
        parameters: {
        };
        post: operations["retryDelivery"];
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}/resend": {
        parameters: {
        };
        post: operations["resendDelivery"];
    };
    "/v1/webhooks/{id}/hasten": {
        parameters: {
        };
        post: operations["hastenDeliveries"];
    };
    "/v1/webhooks/{id}/recover": {
        parameters: {
        };
        post: operations["recoverWebhook"];
    };
    "/v1/webhooks/{id}/recoveries": {
        parameters: {
        };
        get: operations["listRecoveries"];
    };
    "/v1/webhooks/{id}/recoveries/{recoveryId}": {
        parameters: {
        };
        get: operations["getRecovery"];
    };
    "/v1/stats": {
        parameters: {
        };
        get: operations["getStats"];
    };
    "/v1/webhooks/{id}/stats": {
        parameters: {
        };
        get: operations["getWebhookStats"];
    };
    "/v1/events": {
        parameters: {
        };
        get: operations["listEvents"];
    };
    "/v1/api-keys": {
        parameters: {
        };
        get: operations["listApiKeys"];
        post: operations["createApiKey"];
    };
    "/v1/api-keys/self": {
        parameters: {
        };
        get: operations["getOwnApiKey"];
    };
    "/v1/api-keys/{id}": {
        parameters: {
        };
        get: operations["getApiKey"];
        delete: operations["deleteApiKey"];
        patch: operations["updateApiKey"];
    };
    "/v1/api-keys/{id}/rotate": {
        parameters: {
        };
        post: operations["rotateApiKey"];
    };
    "/v1/api-keys/{id}/previous-token": {
        parameters: {
        };
        delete: operations["deletePreviousApiKeyToken"];
    };
    "/v1/console-links": {
        parameters: {
        };
        post: operations["createConsoleLink"];
    };
    "/v1/console-links/exchange": {
        parameters: {
        };
        post: operations["exchangeConsoleLink"];
    };
    "/v1/console-links/{id}": {
        parameters: {
        };
        delete: operations["deleteConsoleLink"];
    };
    "/v1/organization": {
        parameters: {
        };
        get: operations["getOrganization"];
        patch: operations["updateOrganization"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            type: string;
            status: number;
            requestId: string;
            code: string;
            title: string;
            detail: string;
            errors?: components["schemas"]["FieldError"][];
            existingId?: string;
        };
        FieldError: {
            pointer: string;
            code: string;
            detail: string;
        };
        Removed: {
            object: "removed";
            id: string;
            resource: string;
            removedAt: string;
        };
        Written: {
            id: string;
            object: string;
            updatedAt: string;
        };
        Pagination: {
            total: number;
            limit: number;
            offset: number;
            hasMore: boolean;
            nextCursor?: string;
            totalIsExact?: boolean;
            checkpoint?: components["schemas"]["Checkpoint"];
        };
        Checkpoint: {
            count: number;
            digest: string;
            contentDigest: string;
        };
        Teammate: {
            id: string;
            object: "teammate";
            organizationId: string;
            createdAt: string;
            name: string;
            email: string | null;
            active: boolean;
            updatedAt: string;
        };
        TeammateCreate: {
            name: string;
            email?: string | null;
            active?: boolean;
        };
        TeammatePatch: {
            name?: string;
            email?: string | null;
            active?: boolean;
        };
        TeammatePage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Teammate"])[];
            pagination: components["schemas"]["Pagination"];
        };
        TeammateBatch: {
            operation?: "create";
            items: components["schemas"]["TeammateCreate"][];
        };
        Customer: {
            id: string;
            object: "customer";
            organizationId: string;
            createdAt: string;
            name: string | null;
            company: string | null;
            email: string | null;
            phone: string | null;
            locale: string | null;
            timezone: string | null;
            externalId: string | null;
            tags: string[];
            customAttributes: {
                [key: string]: string | number | boolean;
            };
            updatedAt: string;
        };
        CustomerCreate: {
            name?: string | null;
            company?: string | null;
            email?: string | null;
            phone?: string | null;
            locale?: string | null;
            timezone?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        CustomerPatch: {
            name?: string | null;
            company?: string | null;
            email?: string | null;
            phone?: string | null;
            locale?: string | null;
            timezone?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        CustomerPage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Customer"])[];
            pagination: components["schemas"]["Pagination"];
        };
        CustomerBatch: {
            operation?: "create" | "upsert";
            items: (components["schemas"]["CustomerCreate"] | components["schemas"]["CustomerUpsert"])[];
        };
        CustomerUpsert: {
            name?: string | null;
            company?: string | null;
            email?: string | null;
            phone?: string | null;
            locale?: string | null;
            timezone?: string | null;
            externalId: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        Conversation: {
            id: string;
            object: "conversation";
            organizationId: string;
            createdAt: string;
            channel: string;
            subject: string | null;
            status: string;
            handledBy: string;
            assigneeId: string | null;
            escalatedAt: string | null;
            resolvedAt: string | null;
            lastMessageAt: string | null;
            summary: string | null;
            summarizedAt: string | null;
            externalId: string | null;
            tags: string[];
            customAttributes: {
                [key: string]: string | number | boolean;
            };
            customerId: string | null;
            updatedAt: string;
        };
        ConversationCreate: {
            customerId: string;
            channel: "email" | "chat" | "sms" | "whatsapp" | "phone" | "api";
            subject?: string | null;
            handledBy?: "ai" | "human";
            assigneeId?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        ConversationSummarize: {
            summary: string;
        };
        ConversationPatch: {
            subject?: string | null;
            assigneeId?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        ConversationPage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Conversation"])[];
            pagination: components["schemas"]["Pagination"];
        };
        ConversationBatch: {
            operation?: "create" | "upsert";
            items: (components["schemas"]["ConversationCreate"] | components["schemas"]["ConversationUpsert"])[];
        };
        ConversationUpsert: {
            customerId?: string;
            channel?: "email" | "chat" | "sms" | "whatsapp" | "phone" | "api";
            subject?: string | null;
            handledBy?: "ai" | "human";
            assigneeId?: string | null;
            externalId: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        Message: {
            id: string;
            object: "message";
            organizationId: string;
            createdAt: string;
            conversationId: string;
            direction: string;
            author: {
                type: "customer" | "teammate" | "ai" | "system";
                id?: string;
                name?: string;
            };
            body: string | null;
            contentType: string;
            attachments: {
                fileName: string;
                contentType: string;
                sizeBytes: number;
                url: string;
            }[];
            sentAt: string;
            channel: string;
            customerId: string | null;
            updatedAt: string;
        };
        MessageCreate: {
            conversationId: string;
            direction: "inbound" | "outbound";
            author: {
                type: "customer" | "teammate" | "ai" | "system";
                id?: string;
                name?: string;
            };
            body?: string | null;
            contentType?: "text" | "html" | "markdown";
            attachments?: {
                fileName: string;
                contentType: string;
                sizeBytes: number;
                url: string;
            }[];
            sentAt?: string | null;
        };
        MessagePage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Message"])[];
            pagination: components["schemas"]["Pagination"];
        };
        MessageBatch: {
            operation?: "create";
            items: components["schemas"]["MessageCreate"][];
        };
        Ticket: {
            id: string;
            object: "ticket";
            organizationId: string;
            createdAt: string;
            conversationId: string | null;
            subject: string;
            description: string | null;
            type: string | null;
            priority: string;
            status: string;
            assigneeId: string | null;
            dueAt: string | null;
            resolvedAt: string | null;
            closedAt: string | null;
            externalId: string | null;
            tags: string[];
            customAttributes: {
                [key: string]: string | number | boolean;
            };
            customerId: string;
            number: number;
            updatedAt: string;
        };
        TicketCreate: {
            customerId: string;
            conversationId?: string | null;
            subject: string;
            description?: string | null;
            type?: "question" | "incident" | "problem" | "task" | null;
            priority?: "low" | "normal" | "high" | "urgent";
            status?: "new" | "open" | "pending" | "on_hold" | "resolved" | "closed";
            assigneeId?: string | null;
            dueAt?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        TicketPatch: {
            conversationId?: string | null;
            subject?: string;
            description?: string | null;
            type?: "question" | "incident" | "problem" | "task" | null;
            priority?: "low" | "normal" | "high" | "urgent";
            status?: "new" | "open" | "pending" | "on_hold" | "resolved" | "closed";
            assigneeId?: string | null;
            dueAt?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        TicketPage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Ticket"])[];
            pagination: components["schemas"]["Pagination"];
        };
        TicketBatch: {
            operation?: "create" | "upsert";
            items: (components["schemas"]["TicketCreate"] | components["schemas"]["TicketUpsert"])[];
        };
        TicketUpsert: {
            customerId?: string;
            conversationId?: string | null;
            subject?: string;
            description?: string | null;
            type?: "question" | "incident" | "problem" | "task" | null;
            priority?: "low" | "normal" | "high" | "urgent";
            status?: "new" | "open" | "pending" | "on_hold" | "resolved" | "closed";
            assigneeId?: string | null;
            dueAt?: string | null;
            externalId: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        Booking: {
            id: string;
            object: "booking";
            organizationId: string;
            createdAt: string;
            title: string;
            startAt: string;
            endAt: string;
            timezone: string;
            status: string;
            location: {
                type: "in_person" | "phone" | "video" | "other";
                value: string;
            } | null;
            assigneeId: string | null;
            conversationId: string | null;
            notes: string | null;
            cancelledBy: string | null;
            cancellationReason: string | null;
            rejectionReason: string | null;
            previousStartAt: string | null;
            rescheduleCount: number;
            confirmedAt: string | null;
            completedAt: string | null;
            cancelledAt: string | null;
            externalId: string | null;
            tags: string[];
            customAttributes: {
                [key: string]: string | number | boolean;
            };
            customerId: string | null;
            updatedAt: string;
        };
        BookingCreate: {
            customerId: string;
            title: string;
            startAt: string;
            endAt: string;
            timezone: string;
            status?: "pending" | "confirmed";
            location?: {
                type: "in_person" | "phone" | "video" | "other";
                value: string;
            } | null;
            assigneeId?: string | null;
            conversationId?: string | null;
            notes?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        BookingReject: {
            reason?: string | null;
        };
        BookingCancel: {
            by: "customer" | "teammate" | "system";
            reason?: string | null;
        };
        BookingReschedule: {
            startAt: string;
            endAt: string;
        };
        BookingPatch: {
            customerId?: string;
            title?: string;
            timezone?: string;
            location?: {
                type: "in_person" | "phone" | "video" | "other";
                value: string;
            } | null;
            assigneeId?: string | null;
            conversationId?: string | null;
            notes?: string | null;
            externalId?: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        BookingPage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Booking"])[];
            pagination: components["schemas"]["Pagination"];
        };
        BookingBatch: {
            operation?: "create" | "upsert";
            items: (components["schemas"]["BookingCreate"] | components["schemas"]["BookingUpsert"])[];
        };
        BookingUpsert: {
            customerId?: string;
            title?: string;
            startAt?: string;
            endAt?: string;
            timezone?: string;
            status?: "pending" | "confirmed";
            location?: {
                type: "in_person" | "phone" | "video" | "other";
                value: string;
            } | null;
            assigneeId?: string | null;
            conversationId?: string | null;
            notes?: string | null;
            externalId: string | null;
            tags?: string[];
            customAttributes?: {
                [key: string]: string | number | boolean | null;
            };
        };
        ChangesPage: {
            data: (components["schemas"]["Removed"] | components["schemas"]["Teammate"] | components["schemas"]["Customer"] | components["schemas"]["Conversation"] | components["schemas"]["Message"] | components["schemas"]["Ticket"] | components["schemas"]["Booking"])[];
            pagination: components["schemas"]["ChangesPagination"];
        };
        ChangesPagination: {
            total: number;
            limit: number;
            offset: number;
            hasMore: boolean;
            nextCursor: string;
            checkpoint?: {
                [key: string]: components["schemas"]["Checkpoint"];
            };
        };
        BatchAnswer: {
            data: components["schemas"]["BatchItem"][];
            created: number;
            updated: number;
            unchanged: number;
            refused: number;
        };
        BatchItem: {
            index: number;
            outcome: string;
            status: number;
            id?: string;
            problem?: components["schemas"]["ItemProblem"];
        };
        ItemProblem: {
            code: string;
            title: string;
            detail: string;
            errors?: components["schemas"]["FieldError"][];
            existingId?: string;
        };
        ExportEnd: {
            object: "export_end";
            nextCursor: string;
            checkpoint: components["schemas"]["Checkpoint"];
        };
        RangeDigests: {
            asOf: string;
            cursor: string;
            data: components["schemas"]["RangeDigest"][];
        };
        RangeDigest: {
            after: string;
            before: string;
            count: number;
            digest: string;
            contentDigest: string;
            ids?: string[];
        };
        Webhook: {
            id: string;
            object: "webhook";
            organizationId: string;
            url: string;
            description: string | null;
            events: string[];
            signatures: string[];
            headerNames?: string[];
            rateLimit?: number;
            maxConcurrent?: number;
            payload?: string;
            honorRetryAfter?: boolean;
            disableOn410?: boolean;
            status: string;
            disabledReason: string | null;
            disabledAt: string | null;
            failingSince: string | null;
            disablesAt: string | null;
            failureCount: number;
            lastSuccessAt: string | null;
            missedSince: string | null;
            previousSecretExpiresAt: string | null;
            apiKeyId: string;
            consoleLinkId: string | null;
            createdAt: string;
            updatedAt: string;
        };
        WebhookPage: {
            data: components["schemas"]["Webhook"][];
            pagination: components["schemas"]["Pagination"];
        };
        WebhookWithSecret: {
            id: string;
            object: "webhook";
            organizationId: string;
            url: string;
            description: string | null;
            events: string[];
            signatures: string[];
            headerNames?: string[];
            rateLimit?: number;
            maxConcurrent?: number;
            payload?: string;
            honorRetryAfter?: boolean;
            disableOn410?: boolean;
            status: string;
            disabledReason: string | null;
            disabledAt: string | null;
            failingSince: string | null;
            disablesAt: string | null;
            failureCount: number;
            lastSuccessAt: string | null;
            missedSince: string | null;
            previousSecretExpiresAt: string | null;
            apiKeyId: string;
            consoleLinkId: string | null;
            createdAt: string;
            updatedAt: string;
            secret: string;
        };
        WebhookCreate: {
            url: string;
            description?: string | null;
            events: ("customer.created" | "customer.updated" | "customer.deleted" | "conversation.created" | "conversation.assigned" | "conversation.escalated" | "conversation.resolved" | "conversation.summarized" | "message.received" | "message.sent" | "ticket.created" | "ticket.updated" | "ticket.status_changed" | "ticket.assigned" | "ticket.deleted" | "booking.created" | "booking.confirmed" | "booking.rescheduled" | "booking.cancelled" | "booking.completed" | "booking.no_show" | "booking.rejected")[];
            signatures?: ("service" | "standard")[];
            headers?: {
                [key: string]: string;
            } | null;
            rateLimit?: number | null;
            maxConcurrent?: number | null;
            payload?: "full" | "thin";
            honorRetryAfter?: boolean;
            disableOn410?: boolean;
        };
        WebhookPatch: {
            url?: string;
            description?: string | null;
            events?: ("customer.created" | "customer.updated" | "customer.deleted" | "conversation.created" | "conversation.assigned" | "conversation.escalated" | "conversation.resolved" | "conversation.summarized" | "message.received" | "message.sent" | "ticket.created" | "ticket.updated" | "ticket.status_changed" | "ticket.assigned" | "ticket.deleted" | "booking.created" | "booking.confirmed" | "booking.rescheduled" | "booking.cancelled" | "booking.completed" | "booking.no_show" | "booking.rejected")[];
            signatures?: ("service" | "standard")[];
            headers?: {
                [key: string]: string;
            } | null;
            rateLimit?: number | null;
            maxConcurrent?: number | null;
            payload?: "full" | "thin";
            honorRetryAfter?: boolean;
            disableOn410?: boolean;
            status?: "active" | "disabled";
        };
        WebhookRotation: {
            overlap?: number | null;
        };
        Delivery: {
            id: string;
            object: "delivery";
            organizationId: string;
            webhookId: string;
            eventId: string;
            eventType: string;
            status: string;
            attemptCount: number;
            maxAttempts: number;
            responseStatus: number | null;
            lastError: {
                code: string;
                message: string;
            } | null;
            durationMs: number | null;
            lastAttemptAt: string | null;
            nextAttemptAt: string | null;
            deliveredAt: string | null;
            createdAt: string;
            updatedAt: string;
        };
        DeliveryPage: {
            data: components["schemas"]["Delivery"][];
            pagination: components["schemas"]["Pagination"];
        };
        Attempt: {
            number: number;
            at: string;
            responseStatus: number | null;
            error: {
                code: string;
                message: string;
            } | null;
            durationMs: number;
            responseBody: string | null;
        };
        AttemptPage: {
            data: components["schemas"]["Attempt"][];
            pagination: components["schemas"]["Pagination"];
        };
        Hastening: {
            object: "hastening";
            webhookId: string;
            hastened: number;
            hasMore: boolean;
        };
        Recovery: {
            id: string;
            object: "recovery";
            webhookId: string;
            since: string;
            until: string;
            includeSucceeded?: boolean;
            status: string;
            retried: number;
            created: number;
            createdAt: string;
            finishedAt: string | null;
        };
        RecoveryPage: {
            data: components["schemas"]["Recovery"][];
            pagination: components["schemas"]["Pagination"];
        };
        RecoveryCreate: {
            since: string;
            until?: string | null;
            includeBeforeCreation?: boolean;
            includeSucceeded?: boolean;
        };
        StatsPoint: {
            at: string;
            succeeded: number;
            failed: {
                [key: string]: number;
            };
            p50: number | null;
            p95: number | null;
            changes: {
                [key: string]: number;
            };
        };
        Stats: {
            data: components["schemas"]["StatsPoint"][];
        };
        EventPage: {
            data: components["schemas"]["ListedEvent"][];
            pagination: components["schemas"]["EventPagination"];
        };
        ListedEvent: {
            id: string;
            type: string;
            apiVersion: string;
            createdAt: string;
            organizationId: string;
            data: {
                [key: string]: unknown;
            } | null;
        };
        EventPagination: {
            limit: number;
            hasMore: boolean;
            nextCursor: string;
        };
        ApiKey: {
            id: string;
            object: "api_key";
            organizationId: string;
            name: string;
            scopes: string[];
            expiresAt: string | null;
            last4: string;
            previousTokenExpiresAt: string | null;
            lastUsedAt: string | null;
            createdAt: string;
            updatedAt: string;
        };
        ApiKeyPage: {
            data: components["schemas"]["ApiKey"][];
            pagination: components["schemas"]["Pagination"];
        };
        ApiKeyWithToken: {
            id: string;
            object: "api_key";
            organizationId: string;
            name: string;
            scopes: string[];
            expiresAt: string | null;
            last4: string;
            previousTokenExpiresAt: string | null;
            lastUsedAt: string | null;
            createdAt: string;
            updatedAt: string;
            token: string;
        };
        ApiKeyCreate: {
            name: string;
            scopes: ("teammates:read" | "teammates:write" | "customers:read" | "customers:write" | "conversations:read" | "conversations:write" | "messages:read" | "messages:write" | "tickets:read" | "tickets:write" | "bookings:read" | "bookings:write" | "webhooks:read" | "webhooks:write" | "api_keys:manage" | "*")[];
            expiresAt?: string | null;
        };
        ApiKeyPatch: {
            name?: string;
            scopes?: ("teammates:read" | "teammates:write" | "customers:read" | "customers:write" | "conversations:read" | "conversations:write" | "messages:read" | "messages:write" | "tickets:read" | "tickets:write" | "bookings:read" | "bookings:write" | "webhooks:read" | "webhooks:write" | "api_keys:manage" | "*")[];
            expiresAt?: string | null;
        };
        ConsoleLink: {
            id: string;
            object: "console_link";
            scopes: string[];
            url: string;
            expiresAt: string;
        };
        ConsoleSession: {
            id: string;
            object: "console_session";
            organizationId: string;
            scopes: string[];
            token: string;
            expiresAt: string;
        };
        ConsoleLinkCreate: {
            scopes: ("teammates:read" | "teammates:write" | "customers:read" | "customers:write" | "conversations:read" | "conversations:write" | "messages:read" | "messages:write" | "tickets:read" | "tickets:write" | "bookings:read" | "bookings:write" | "webhooks:read" | "webhooks:write")[];
            expiresIn?: number | null;
        };
        ConsoleLinkExchange: {
            link: string;
        };
        Organization: {
            id: string;
            object: "organization";
            name: string;
            createdAt: string;
            updatedAt: string;
        };
        OrganizationPatch: {
            name?: string;
        };
    };
    parameters: {
        "X-Request-Id": string;
    };
}
export type $defs = Record<string, never>;
export interface operations {
    listTeammates: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
                ids?: string;
                email?: string;
                createdAfter?: string;
                createdBefore?: string;
                q?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeammatePage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTeammate: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeammateCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Teammate"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTeammate: {
        parameters: {
            header?: {
                "If-None-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Teammate"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateTeammate: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeammatePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Teammate"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    batchTeammates: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeammateBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportTeammates: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    digestTeammates: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                parts?: number;
                idsUpTo?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RangeDigests"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
                ids?: string;
                email?: string;
                phone?: string;
                externalId?: string;
                tag?: string;
                createdAfter?: string;
                createdBefore?: string;
                q?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomerPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createCustomer: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCustomer: {
        parameters: {
            header?: {
                "If-None-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteCustomer: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateCustomer: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    batchCustomers: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportCustomers: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    digestCustomers: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                parts?: number;
                idsUpTo?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RangeDigests"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
                ids?: string;
                customerId?: string;
                channel?: "email" | "chat" | "sms" | "whatsapp" | "phone" | "api";
                status?: "open" | "resolved";
                handledBy?: "ai" | "human";
                assigneeId?: string;
                externalId?: string;
                tag?: string;
                createdAfter?: string;
                createdBefore?: string;
                q?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createConversation: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getConversation: {
        parameters: {
            header?: {
                "If-None-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateConversation: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    escalateConversation: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolveConversation: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reopenConversation: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    summarizeConversation: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationSummarize"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    batchConversations: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportConversations: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    digestConversations: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                parts?: number;
                idsUpTo?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RangeDigests"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
                ids?: string;
                conversationId?: string;
                direction?: "inbound" | "outbound";
                createdAfter?: string;
                createdBefore?: string;
                q?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createMessage: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMessage: {
        parameters: {
            header?: {
                "If-None-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    batchMessages: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportMessages: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    digestMessages: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                parts?: number;
                idsUpTo?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RangeDigests"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTickets: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
                ids?: string;
                customerId?: string;
                conversationId?: string;
                number?: number;
                type?: "question" | "incident" | "problem" | "task";
                priority?: "low" | "normal" | "high" | "urgent";
                status?: "new" | "open" | "pending" | "on_hold" | "resolved" | "closed";
                assigneeId?: string;
                externalId?: string;
                tag?: string;
                createdAfter?: string;
                createdBefore?: string;
                q?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTicket: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTicket: {
        parameters: {
            header?: {
                "If-None-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteTicket: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateTicket: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    batchTickets: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportTickets: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    digestTickets: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                parts?: number;
                idsUpTo?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RangeDigests"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listBookings: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
                ids?: string;
                customerId?: string;
                status?: "pending" | "confirmed" | "cancelled" | "completed" | "no_show" | "rejected";
                assigneeId?: string;
                externalId?: string;
                tag?: string;
                createdAfter?: string;
                createdBefore?: string;
                startAfter?: string;
                startBefore?: string;
                q?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookingPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createBooking: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BookingCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getBooking: {
        parameters: {
            header?: {
                "If-None-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BookingPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    confirmBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rejectBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BookingReject"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BookingCancel"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rescheduleBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BookingReschedule"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    completeBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    noShowBooking: {
        parameters: {
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    batchBookings: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BookingBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportBookings: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    digestBookings: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                parts?: number;
                idsUpTo?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RangeDigests"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                limit?: number;
                updatedAfter?: string;
                cursor?: string;
                wait?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangesPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                status?: "active" | "disabled";
                createdAfter?: string;
                createdBefore?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookRotation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deletePreviousWebhookSecret: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pingWebhook: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAllDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                status?: "pending" | "succeeded" | "failed";
                eventType?: "customer.created" | "customer.updated" | "customer.deleted" | "conversation.created" | "conversation.assigned" | "conversation.escalated" | "conversation.resolved" | "conversation.summarized" | "message.received" | "message.sent" | "ticket.created" | "ticket.updated" | "ticket.status_changed" | "ticket.assigned" | "ticket.deleted" | "booking.created" | "booking.confirmed" | "booking.rescheduled" | "booking.cancelled" | "booking.completed" | "booking.no_show" | "booking.rejected" | "ping";
                webhookId?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                status?: "pending" | "succeeded" | "failed";
                eventType?: "customer.created" | "customer.updated" | "customer.deleted" | "conversation.created" | "conversation.assigned" | "conversation.escalated" | "conversation.resolved" | "conversation.summarized" | "message.received" | "message.sent" | "ticket.created" | "ticket.updated" | "ticket.status_changed" | "ticket.assigned" | "ticket.deleted" | "booking.created" | "booking.confirmed" | "booking.rescheduled" | "booking.cancelled" | "booking.completed" | "booking.no_show" | "booking.rejected" | "ping";
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
                deliveryId: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAttempts: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
                deliveryId: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttemptPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getDeliveryPayload: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
                deliveryId: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryDelivery: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
                deliveryId: string;
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resendDelivery: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
                deliveryId: string;
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    hastenDeliveries: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hastening"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recoverWebhook: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoveryCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listRecoveries: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRecovery: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
                recoveryId: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: {
                from?: string;
                to?: string;
                step?: "1m" | "1h" | "1d";
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWebhookStats: {
        parameters: {
            query?: {
                from?: string;
                to?: string;
                step?: "1m" | "1h" | "1d";
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                types?: string;
                subject?: string;
                createdAfter?: string;
                cursor?: string;
                limit?: number;
                wait?: number;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                createdAfter?: string;
                createdBefore?: string;
            };
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithToken"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOwnApiKey: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getApiKey: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateApiKey: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithToken"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deletePreviousApiKeyToken: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createConsoleLink: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsoleLinkCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleLink"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exchangeConsoleLink: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsoleLinkExchange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteConsoleLink: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOrganization: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateOrganization: {
        parameters: {
            header?: {
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
