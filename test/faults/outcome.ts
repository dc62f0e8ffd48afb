/**
 * What a response says, in the form in which the fault suite expects it.
 * @module
 */
import packet from 'dns-packet'
import { derivedAddress } from './derived-address.ts'

/**
 * Returns the outcome of a query: `derived` for the name's derived address, other IPv4 addresses
 * sorted as text with spaces between, `NODATA`, `truncated over udp`, the RCODE, or what is wrong.
 */
export function outcomeOf(response: Buffer, name: string, transport: 'udp' | 'tcp'): string {
  try {
    // Decoded messages have the RCODE as text, which their type lacks.
    const decoded: packet.DecodedPacket & { readonly rcode?: string } = packet.decode(response)
    const { questions = [], answers = [], flag_tc, rcode = 'no RCODE' } = decoded
    if (questions[0]?.name.toLowerCase() !== name) return 'another question'
    if (rcode !== 'NOERROR') return rcode
    if (flag_tc) return `truncated over ${transport}`
    const addresses = answers.map((one) =>
      one.type === 'A' && one.name.toLowerCase() === name ? one.data : `a ${one.type} record`,
    )
    if (addresses.length === 1 && addresses[0] === derivedAddress(name)) return 'derived'
    return addresses.length === 0 ? 'NODATA' : addresses.sort().join(' ')
  } catch {
    return 'malformed'
  }
}
