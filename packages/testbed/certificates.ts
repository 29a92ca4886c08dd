/** The tests certify their receivers as `deskwire listen` does its own. */
export * from '../cli/src/listen/certificates.ts'
