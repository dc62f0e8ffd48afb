/**
 * Objects of the API that the server sends by Protocol Buffers. Their encoding costs it half of
 * what JSON costs, and a third of the bytes, `managedFields`, is skipped here.
 *
 * Field numbers are those of `generated.proto` in k8s.io/api and k8s.io/apimachinery. Only the
 * fields that names depend on are listed (`cluster/objects/parse-object.ts`).
 * @module
 */
import { causeText, recordOf, textOf } from '../../dns/bytes/unknown.ts'
import { EndpointColumns } from '../objects/packed-endpoints.ts'
import { ApiError, type WatchEvent } from './object-api.ts'
import {
  bytes,
  child,
  children,
  type FieldReader,
  type Message,
  MessageReader,
  message,
  number,
  readFlag,
  text,
  textMap,
  texts,
  type Values,
} from './protobuf-reader.ts'

/** Media type of the encoding. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const readTime = message({ 1: number('seconds') })

/** The last second that a `Date` has. */
const SECONDS_MAX = 8.64e12

/**
 * A time, as RFC 3339 has it; absent in objects that were never stored. One that no `Date` has is
 * '': to throw would lose all objects of the list.
 */
function time(name: string): FieldReader {
  return (values, reader) => {
    const { seconds } = readTime(reader, reader.readEnd())
    if (typeof seconds !== 'number') return
    const isDate = Math.abs(seconds) <= SECONDS_MAX
    values[name] = isDate ? new Date(1000 * seconds).toISOString() : ''
  }
}

const META = message({
  1: text('name'),
  3: text('namespace'),
  5: text('uid'),
  6: text('resourceVersion'),
  8: time('creationTimestamp'),
  9: time('deletionTimestamp'),
  11: textMap('labels'),
  12: textMap('annotations'),
})
const NAMESPACE = message({ 1: child('metadata', META) })
const SERVICE_PORT = message({
  1: text('name'),
  2: text('protocol'),
  3: number('port'),
  5: number('nodePort'),
  6: text('appProtocol'),
})
const SERVICE_SPEC = message({
  1: children('ports', SERVICE_PORT),
  3: text('clusterIP'),
  4: text('type'),
  5: texts('externalIPs'),
  10: text('externalName'),
  18: texts('clusterIPs'),
})
const INGRESS = message({ 1: text('ip'), 2: text('hostname'), 3: text('ipMode') })
const LOAD_BALANCER = message({ 1: children('ingress', INGRESS) })
const SERVICE = message({
  1: child('metadata', META),
  2: child('spec', SERVICE_SPEC),
  3: child('status', message({ 1: child('loadBalancer', LOAD_BALANCER) })),
})
const readConditions = message({ 1: readFlag('ready') })
const readTarget = message({ 3: text('name') })

/** The endpoints of a slice, most of a large cluster: without objects in between. */
const endpoints: FieldReader = (values, reader) => {
  const known = values.endpoints
  const columns = known instanceof EndpointColumns ? known : new EndpointColumns()
  values.endpoints = columns
  const end = reader.readEnd()
  const addresses: string[] = []
  const read = { addresses, hostname: '', targetName: '', zone: '', isReady: true }
  for (let field = reader.nextField(end); field > 0; field = reader.nextField(end)) {
    if (field === 1) addresses.push(reader.readString())
    else if (field === 2) {
      read.isReady = readConditions(reader, reader.readEnd()).ready !== false
    } else if (field === 3) read.hostname = reader.readString()
    else if (field === 4) read.targetName = textOf(readTarget(reader, reader.readEnd()).name)
    else if (field === 7) read.zone = reader.readString().toLowerCase()
  }
  reader.endMessage(end)
  columns.add(read)
}

const ENDPOINT_PORT = message({ 1: text('name'), 2: text('protocol'), 3: number('port') })
const ENDPOINT_SLICE = message({
  1: child('metadata', META),
  2: endpoints,
  3: children('ports', ENDPOINT_PORT),
})
const POD = message({
  1: child('metadata', META),
  3: child('status', message({ 1: text('phase'), 6: text('podIP') })),
})
const STATUS = message({ 3: text('message'), 6: number('code') })

const LIST_META = message({ 2: text('resourceVersion'), 3: text('continue') })
const listOf = (item: Message): Message =>
  message({ 1: child('metadata', LIST_META), 2: children('items', item) })

/** The messages that are known, by API version and kind. */
const MESSAGES: ReadonlyMap<string, Message> = new Map([
  ['v1 Namespace', NAMESPACE],
  ['v1 NamespaceList', listOf(NAMESPACE)],
  ['v1 Pod', POD],
  ['v1 PodList', listOf(POD)],
  ['v1 Service', SERVICE],
  ['v1 ServiceList', listOf(SERVICE)],
  ['v1 Status', STATUS],
  ['discovery.k8s.io/v1 EndpointSlice', ENDPOINT_SLICE],
  ['discovery.k8s.io/v1 EndpointSliceList', listOf(ENDPOINT_SLICE)],
])

/** What precedes an object: `k8s` and 0. */
const MAGIC = 0x6b387300
const MAGIC_BYTES = 4
/** The envelope of an object (runtime.Unknown). */
const ENVELOPE = message({
  1: child('type', message({ 1: text('apiVersion'), 2: text('kind') })),
  2: bytes('object'),
  3: text('encoding'),
})
/** An event of a watch (meta/v1). */
const EVENT = message({ 1: text('type'), 2: child('envelope', message({ 1: bytes('bytes') })) })

/** Reads an object with its envelope, or a list of objects. @throws {ApiError} for other bytes */
export function readObject(body: Buffer): Values {
  return reading(body, (reader) => readEnvelope(reader, body, { start: 0, end: body.length }))
}

/** Reads an event of a watch. @throws {ApiError} for other bytes */
export function readEventMessage(body: Buffer): WatchEvent {
  return reading(body, (reader) => {
    const { type = '', envelope } = EVENT(reader, body.length)
    const { start, end } = recordOf(recordOf(envelope).bytes)
    if (typeof start !== 'number' || typeof end !== 'number') throw new TypeError('no object')
    return { type: String(type), object: readEnvelope(reader, body, { start, end }) }
  })
}

function reading<T>(body: Buffer, read: (reader: MessageReader) => T): T {
  try {
    return read(new MessageReader(body))
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError(`a message of the API server is invalid: ${causeText(error)}`)
  }
}

function readEnvelope(
  reader: MessageReader,
  body: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): Values {
  if (end - start < MAGIC_BYTES || body.readUInt32BE(start) !== MAGIC) {
    throw new TypeError('it does not begin with k8s')
  }
  reader.pos = start + MAGIC_BYTES
  const { type, object, encoding } = ENVELOPE(reader, end)
  const { apiVersion, kind } = recordOf(type)
  const read = MESSAGES.get(`${apiVersion} ${kind}`)
  if (read === undefined || encoding !== undefined) {
    throw new TypeError(`it has a ${apiVersion} ${kind} that was not asked for`)
  }
  const { start: from, end: to } = recordOf(object)
  if (typeof from !== 'number' || typeof to !== 'number') return {}
  reader.pos = from
  return read(reader, to)
}
