/**
 * What the rdata of each known type is made of. A type without a schema is opaque (RFC 3597).
 * @module
 */
import { TYPE } from './rr-type.ts'

/**
 * One part of an rdata:
 * - `u8` `u16` `u32`: numbers, big-endian
 * - `ipv4` `ipv6`: addresses of 4 and 16 octets
 * - `name`: a domain name that is never compressed when written (RFC 3597 §4)
 * - `pointable`: a domain name of an RFC 1035 type, which may be compressed
 * - `string`: a length octet and up to 255 octets (RFC 1035 §3.3)
 * - `strings`: one or more of them, to the end
 * - `tag`: a length octet and letters and digits (RFC 8659 §4.1)
 * - `rest`: octets to the end, as text
 * - `hex`: octets to the end, as hexadecimal digits
 * - `base64`: octets to the end, as base64
 * - `params`: service parameters to the end (RFC 9460 §2.2)
 */
export type Field =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'ipv4'
  | 'ipv6'
  | 'name'
  | 'pointable'
  | 'string'
  | 'strings'
  | 'tag'
  | 'rest'
  | 'hex'
  | 'base64'
  | 'params'

const SCHEMAS: ReadonlyMap<number, readonly Field[]> = new Map<number, readonly Field[]>([
  [TYPE.A, ['ipv4']],
  [TYPE.NS, ['pointable']],
  [TYPE.MD, ['pointable']],
  [TYPE.MF, ['pointable']],
  [TYPE.CNAME, ['pointable']],
  [TYPE.SOA, ['pointable', 'pointable', 'u32', 'u32', 'u32', 'u32', 'u32']],
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
  [TYPE.PX, ['u16', 'name', 'name']],
  [TYPE.AAAA, ['ipv6']],
  [TYPE.SRV, ['u16', 'u16', 'u16', 'name']],
  [TYPE.NAPTR, ['u16', 'u16', 'string', 'string', 'string', 'name']],
  [TYPE.KX, ['u16', 'name']],
  [TYPE.DNAME, ['name']],
  [TYPE.DS, ['u16', 'u8', 'u8', 'hex']],
  [TYPE.SSHFP, ['u8', 'u8', 'hex']],
  [TYPE.DNSKEY, ['u16', 'u8', 'u8', 'base64']],
  [TYPE.TLSA, ['u8', 'u8', 'u8', 'hex']],
  [TYPE.SVCB, ['u16', 'name', 'params']],
  [TYPE.HTTPS, ['u16', 'name', 'params']],
  [TYPE.SPF, ['strings']],
  [TYPE.URI, ['u16', 'u16', 'rest']],
  [TYPE.CAA, ['u8', 'tag', 'rest']],
])

/** The parts of a type's rdata, or `undefined` when the type is not known. */
export function rdataSchema(type: number): readonly Field[] | undefined {
  return SCHEMAS.get(type)
}

/** Octets of a field of fixed size; `undefined` when its size varies. */
export function fieldBytes(field: Field): number | undefined {
  switch (field) {
    case 'u8':
      return 1
    case 'u16':
      return 2
    case 'u32':
    case 'ipv4':
      return 4
    case 'ipv6':
      return 16
    default:
      return undefined
  }
}
