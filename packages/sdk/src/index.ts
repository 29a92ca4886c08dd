/**
 * @deskwire/sdk: typed calls, sync, the proof that a copy is exact, and webhook signatures. Everything public is
 * named here, but for `@deskwire/sdk/testing`.
 */

export {
  type FastifyLike,
  fastifyPlugin,
  fetchHandler,
  type HonoContext,
  honoHandler,
  type NodeRequest,
  type NodeResponse,
  nodeHandler,
} from './adapters.ts'
export { baseAddress } from './address.ts'
export type { BatchAnswer, ImportOf, ItemOutcome, ItemProblem, UpsertOf } from './batch.ts'
export type { CallPromise, CallResponse } from './call-promise.ts'
export type { Changes, Checkpoints } from './changes.ts'
export {
  type Content,
  ContentDigest,
  checkpointOf,
  contentDigestOf,
  Digest,
  type Digestible,
  type RowsDigest,
} from './checkpoint.ts'
export {
  type AdminClient,
  type Client,
  createAdminClient,
  createClient,
  type RequestOptions,
} from './client.ts'
export {
  type ComparedCopy,
  comparedRows,
  type Difference,
  findDifferences,
  type Moment,
  type ServedRows,
} from './compare.ts'
export { MemoryCopy, type Verdict } from './copy.ts'
export {
  type Checkpoint,
  type Erasure,
  type IdRange,
  isRemoval,
  type ListPage,
  type Open,
  type Pagination,
  type RangeDigest,
  type RangeDigests,
  type RemovalRecord,
  type Row,
  type Written,
} from './envelope.ts'
export {
  AuthenticationError,
  ConflictError,
  ConnectionFailedError,
  CursorTooOldError,
  DeskwireError,
  type ErrorCode,
  InvalidRequestError,
  NotFoundError,
  PermissionDeniedError,
  type Problem,
  type ProblemError,
  RateLimitError,
  ServerError,
} from './error.ts'
export { etagOf } from './etag.ts'
export type { Actor, Envelope, EventType, WebhookEvent } from './event.ts'
export {
  type Examination,
  type ExaminedDelivery,
  examineSignature,
  type ReceivingRule,
  type RuleFinding,
  type SignatureScheme,
  signatureHeaders,
} from './examine.ts'
export type { ExportStream } from './export.ts'
export type { FollowOptions } from './follow.ts'
export type * from './generated.ts'
export { headersOfText } from './header-text.ts'
export { readJson } from './json.ts'
export type { List, ListParams, PagedList } from './list.ts'
export type {
  ActionOptions,
  CallOptions,
  ChangeOptions,
  ClientOptions,
  CreateOptions,
  Fetch,
  GetOptions,
  ReceivedResponse,
  SentRequest,
} from './options.ts'
export { createReceiver, type EventOf, type Receiver, type ReceiverOptions, type Reply } from './receive.ts'
export type {
  ChangeableResource,
  DigestParams,
  Resource,
} from './resource.ts'
export type { RetryPolicy } from './retry.ts'
export { type Begun, type OnceOptions, once, type SeenEvents, SeenInMemory } from './seen.ts'
export {
  type PublicKey,
  type RawBody,
  type Rejection,
  type RequestHeaders,
  type Secrets,
  SignatureError,
  type StandardHeaders,
  signStandardWebhook,
  signWebhook,
  type VerifyOptions,
  verify,
  verifyAsymmetric,
  verifyAsymmetricSignature,
  verifySignature,
} from './signature.ts'
export { type Change, changeOf, changesUpTo, type SyncPage, type SyncParams } from './sync.ts'
