/** The command line is not what the command accepts; the message says what is. */
export class UsageError extends Error {}
