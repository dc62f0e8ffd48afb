/**
 * The fields of the rdata of known types. A type without a schema is opaque (RFC 3597).
 * @module
 */
import { TYPE } from '../names/rr-type.ts'

/**
 * A field of rdata:
 * - `u8` `u16` `u32`: numbers, big-endian
 * - `seconds`: a `u32`, in text optionally with units (`1h30m`)
 * - `time`: a `u32`, in text a date (RFC 4034 §3.2)
 * - `type`: a `u16`, in text the mnemonic of a type
 * - `algorithm`: a `u8`, in text optionally the mnemonic of a DNSSEC algorithm
 * - `certificate`: a `u16`, in text optionally the mnemonic of a kind of certificate
 * - `ipv4` `ipv6`: addresses of 4 and 16 bytes
 * - `eui48` `eui64` `node`: identifiers of 6, 8 and 8 bytes, as groups of hexadecimal digits
 * - `name`: a domain name that is never compressed when written (RFC 3597 §4)
 * - `pointable`: a domain name in an RFC 1035 type, which can be compressed
 * - `string`: a length byte and up to 255 bytes (RFC 1035 §3.3)
 * - `strings`: one or more of them, to the end
 * - `tag`: a length byte and letters and digits (RFC 8659 §4.1)
 * - `rest`: bytes to the end, as text
 * - `hex`: bytes to the end, as hexadecimal digits
 * - `base64`: bytes to the end, as base64
 * - `params`: service parameters to the end (RFC 9460 §2.2)
 * - `types`: a type bitmap to the end (RFC 4034 §4.1.2)
 */
export type Field =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'seconds'
  | 'time'
  | 'type'
  | 'algorithm'
  | 'certificate'
  | 'ipv4'
  | 'ipv6'
  | 'eui48'
  | 'eui64'
  | 'node'
  | 'name'
  | 'pointable'
  | 'string'
  | 'strings'
  | 'tag'
  | 'rest'
  | 'hex'
  | 'base64'
  | 'params'
  | 'types'

const SCHEMAS: ReadonlyMap<number, readonly Field[]> = new Map<number, readonly Field[]>([
  [TYPE.A, ['ipv4']],
  [TYPE.NS, ['pointable']],
  [TYPE.MD, ['pointable']],
  [TYPE.MF, ['pointable']],
  [TYPE.CNAME, ['pointable']],
  [TYPE.SOA, ['pointable', 'pointable', 'u32', 'seconds', 'seconds', 'seconds', 'seconds']],
  [TYPE.MB, ['pointable']],
  [TYPE.MG, ['pointable']],
  [TYPE.MR, ['pointable']],
  [TYPE.PTR, ['pointable']],
  [TYPE.HINFO, ['string', 'string']],
  [TYPE.MINFO, ['pointable', 'pointable']],
  [TYPE.MX, ['u16', 'pointable']],
  [TYPE.TXT, ['strings']],
  [TYPE.RP, ['name', 'name']],
  [TYPE.AFSDB, ['u16', 'name']],
  [TYPE.RT, ['u16', 'name']],
  [TYPE.KEY, ['u16', 'u8', 'algorithm', 'base64']],
  [TYPE.PX, ['u16', 'name', 'name']],
  [TYPE.AAAA, ['ipv6']],
  [TYPE.SRV, ['u16', 'u16', 'u16', 'name']],
  [TYPE.NAPTR, ['u16', 'u16', 'string', 'string', 'string', 'name']],
  [TYPE.KX, ['u16', 'name']],
  [TYPE.CERT, ['certificate', 'u16', 'algorithm', 'base64']],
  [TYPE.DNAME, ['name']],
  [TYPE.DS, ['u16', 'algorithm', 'u8', 'hex']],
  [TYPE.SSHFP, ['u8', 'u8', 'hex']],
  [TYPE.RRSIG, ['type', 'algorithm', 'u8', 'u32', 'time', 'time', 'u16', 'name', 'base64']],
  [TYPE.NSEC, ['name', 'types']],
  [TYPE.DNSKEY, ['u16', 'u8', 'algorithm', 'base64']],
  [TYPE.DHCID, ['base64']],
  [TYPE.TLSA, ['u8', 'u8', 'u8', 'hex']],
  [TYPE.SMIMEA, ['u8', 'u8', 'u8', 'hex']],
  [TYPE.CDS, ['u16', 'algorithm', 'u8', 'hex']],
  [TYPE.CDNSKEY, ['u16', 'u8', 'algorithm', 'base64']],
  [TYPE.OPENPGPKEY, ['base64']],
  [TYPE.CSYNC, ['u32', 'u16', 'types']],
  [TYPE.ZONEMD, ['u32', 'u8', 'u8', 'hex']],
  [TYPE.SVCB, ['u16', 'name', 'params']],
  [TYPE.HTTPS, ['u16', 'name', 'params']],
  [TYPE.SPF, ['strings']],
  [TYPE.NID, ['u16', 'node']],
  [TYPE.L32, ['u16', 'ipv4']],
  [TYPE.L64, ['u16', 'node']],
  [TYPE.LP, ['u16', 'name']],
  [TYPE.EUI48, ['eui48']],
  [TYPE.EUI64, ['eui64']],
  [TYPE.URI, ['u16', 'u16', 'rest']],
  [TYPE.CAA, ['u8', 'tag', 'rest']],
  [TYPE.RESINFO, ['strings']],
])

/** Returns the fields of a type's rdata; `undefined` for an unknown type. */
export function rdataSchema(type: number): readonly Field[] | undefined {
  return SCHEMAS.get(type)
}

/** Returns the size of a fixed-size field in bytes; `undefined` for other fields. */
export function fieldBytes(field: Field): number | undefined {
  switch (field) {
    case 'u8':
    case 'algorithm':
      return 1
    case 'u16':
    case 'type':
    case 'certificate':
      return 2
    case 'u32':
    case 'seconds':
    case 'time':
    case 'ipv4':
      return 4
    case 'eui48':
      return 6
    case 'eui64':
    case 'node':
      return 8
    case 'ipv6':
      return 16
    default:
      return undefined
  }
}
