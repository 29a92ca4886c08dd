/** Tests certify their receivers as `deskwire listen` does. */
export * from '../cli/src/listen/certificates.ts'
