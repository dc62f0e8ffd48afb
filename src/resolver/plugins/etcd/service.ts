/**
 * A service of SkyDNS in etcd: the JSON value of one key
 * (github.com/coredns/coredns, plugin/etcd/msg).
 * @module
 */
import { isRecord, parseJson } from '../../../dns/bytes/unknown.ts'
import { parseAddress, unmapped } from '../../../dns/names/address.ts'
import type { StoredKey } from '../../../snapshot/records/stored-keys.ts'
import { nameOfKey, nameOfText } from './key-path.ts'

/** The service of one key. */
export type EtcdService = {
  /** The key's bytes, one character each. */
  readonly key: string
  /** The name of the key; `undefined` if it is invalid. */
  readonly keyName: Uint8Array | undefined
  /** As stored; '' for none. */
  readonly host: string
  /** `host` as an address of 4 or 16 bytes. */
  readonly address: Uint8Array | undefined
  /** `host` as a name. */
  readonly target: Uint8Array | undefined
  readonly port: number
  readonly priority: number
  /** 0 for none. */
  readonly weight: number
  readonly text: string
  readonly isMail: boolean
  /** 0 for none. */
  readonly ttlSeconds: number
  /** Labels to remove from the left of the target in SRV, MX and NS records. */
  readonly stripCount: number
  readonly group: string
  /** Identifier of the key's lease; '' for none. */
  readonly lease: string
}

/** The kind of a service in a query for addresses: its text hides a host that is a name. */
export type ServiceKind = 'ipv4' | 'ipv6' | 'cname' | 'text'

const PRIORITY_DEFAULT = 10
const TTL_SECONDS_MAX = 0xffff_ffff
const INTEGER_MAX = 2 ** 63
/** Bytes of a text, in UTF-8: a response has no room for many more. */
const TEXT_BYTES_MAX = 32_768

const encoder = new TextEncoder()

type Fields = {
  host: string
  port: number
  priority: number
  weight: number
  text: string
  mail: boolean
  ttl: number
  targetstrip: number
  group: string
}

/** Parses a stored key; returns the reason if its value is not valid. */
export function parseService({ key, value, lease }: StoredKey): EtcdService | string {
  const fields = parseFields(value)
  if (typeof fields === 'string') return fields
  const { host, port, weight, text, ttl, group } = fields
  if (encoder.encode(text).length > TEXT_BYTES_MAX)
    return `its text has more than ${TEXT_BYTES_MAX} bytes`
  const address = parseHostAddress(host)
  const target = address === undefined && host !== '' ? nameOfText(host) : undefined
  if (host !== '' && address === undefined && target === undefined) {
    return `its host "${host}" is neither an address nor a domain name`
  }
  return {
    key,
    keyName: nameOfKey(key),
    host,
    address,
    target,
    port,
    priority: fields.priority === 0 ? PRIORITY_DEFAULT : fields.priority,
    weight,
    text,
    isMail: fields.mail,
    ttlSeconds: ttl,
    stripCount: fields.targetstrip,
    group,
    lease,
  }
}

/** Returns the kind of a service. */
export function serviceKind({ address, text }: EtcdService): ServiceKind {
  if (address !== undefined) return address.length === 4 ? 'ipv4' : 'ipv6'
  return text === '' ? 'cname' : 'text'
}

/**
 * If the services with the shortest keys agree on a group, keeps its services and those without a
 * group (CoreDNS, plugin/etcd/msg/service.go: it stops to compare keys at the first short one
 * without a group, and treats all later ones as longer).
 */
export function ofOneGroup(services: readonly EtcdService[]): readonly EtcdService[] {
  const [first] = services
  if (first === undefined) return services
  let { group } = first
  let shortest = depthOf(first)
  const depths: number[] = []
  for (const service of services) {
    const depth = depthOf(service)
    depths.push(depth)
    if (depth >= shortest) continue
    if (service.group === '') break
    shortest = depth
    group = service.group
  }
  if (group === '') return services
  const disagrees = services.some(
    (service, i) => service.group !== '' && service.group !== group && depths[i] === shortest,
  )
  return disagrees
    ? services
    : services.filter((service) => service.group === '' || service.group === group)
}

function depthOf({ key }: EtcdService): number {
  return key.split('/').length
}

/** Parses an address; as in Go, an IPv4-mapped one is IPv4. */
function parseHostAddress(host: string): Uint8Array | undefined {
  const address = parseAddress(host)
  return address && unmapped(address)
}

/** Parses a value as Go's encoding/json does; returns the reason if it is not valid. */
function parseFields(value: string): Fields | string {
  const fields: Fields = {
    host: '',
    port: 0,
    priority: 0,
    weight: 0,
    text: '',
    mail: false,
    ttl: 0,
    targetstrip: 0,
    group: '',
  }
  const parsed = parseJson(value)
  if (parsed === undefined) return 'its value is not JSON'
  if (parsed === null) return fields
  if (!isRecord(parsed)) return 'its value is not an object'
  for (const [name, field] of Object.entries(parsed)) {
    // Go ignores letter case and null.
    const reason = field === null ? undefined : setField(fields, name.toLowerCase(), field)
    if (reason !== undefined) return reason
  }
  return fields
}

/** Sets a field; ignores an unknown one. @returns why the value is not valid, if so */
function setField(fields: Fields, name: string, value: unknown): string | undefined {
  switch (name) {
    case 'host':
    case 'text':
    case 'group':
      if (typeof value !== 'string') return `its "${name}" is not a string`
      fields[name] = value
      return undefined
    case 'port':
    case 'priority':
    case 'weight':
    case 'targetstrip':
      if (!isInteger(value, -INTEGER_MAX, INTEGER_MAX)) return `its "${name}" is not a whole number`
      fields[name] = value
      return undefined
    case 'ttl':
      if (!isInteger(value, 0, TTL_SECONDS_MAX)) return 'its "ttl" is not a number of seconds'
      fields.ttl = value
      return undefined
    case 'mail':
      if (typeof value !== 'boolean') return 'its "mail" is neither true nor false'
      fields.mail = value
      return undefined
  }
  return undefined
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && typeof value === 'number' && min <= value && value <= max
}
