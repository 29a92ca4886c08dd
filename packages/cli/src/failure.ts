/** Something that was to happen did not; the message says what, and what to do. Exit code 1. */
export class CommandFailure extends Error {}
