/** The errors of the extension for events. */
import type { DeskwireError } from '@deskwire/sdk'
import { ProtocolError } from '@modelcontextprotocol/server'

export const codes = {
  notFound: -32_023,
  forbidden: -32_024,
  exhausted: -32_025,
  unsupported: -32_026,
  callback: -32_027,
  invalidParams: -32_602,
} as const

/** The API's problem in the words of the protocol. */
export function protocolError({ code, detail, errors }: DeskwireError): ProtocolError {
  const data = { reason: code }
  switch (code) {
    case 'insufficient_scope':
    case 'unauthorized':
    case 'key_expired':
      return new ProtocolError(codes.forbidden, detail, data)
    case 'rate_limited':
    case 'unavailable':
      return new ProtocolError(codes.exhausted, detail, { limit: 'requests' })
    default: {
      const fields = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')
      return new ProtocolError(codes.invalidParams, fields === '' ? detail : fields, data)
    }
  }
}
