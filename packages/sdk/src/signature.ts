/** `@deskwire/sdk/signature`: signing and verifying, and nothing else. */
export { type PublicKey, verifyAsymmetric, verifyAsymmetricSignature } from './asymmetric.ts'
export {
  type Hmac,
  type RawBody,
  type Secrets,
  type StandardHeaders,
  signatureHeader,
  signStandardWebhook,
  signWebhook,
  standardHeaders,
} from './signing.ts'
export {
  type Rejection,
  type RequestHeaders,
  SignatureError,
  type VerifyOptions,
  verify,
  verifySignature,
} from './verify.ts'
