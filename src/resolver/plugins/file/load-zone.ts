/**
 * Reads a zone from its file and the files that this includes, a slice in each turn of the event
 * loop.
 * @module
 */
import { createPause, inSlices, type Pause, type Turns } from '../../../dns/bytes/steps.ts'
import { formatName } from '../../../dns/names/name.ts'
import { formatType, TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { soaSerial } from '../../../dns/wire/soa.ts'
import { zoneFileSteps } from '../../../snapshot/records/zone-file.ts'
import { ZoneFileError } from '../../../snapshot/records/zone-scanner.ts'
import { ZoneBuilder, type ZoneData } from './zone-data.ts'

/** Bytes that are decoded at once. */
const PIECE_BYTES = 1024 * 1024

/** Which file to read for which zone. */
export type ZoneSource = {
  readonly file: string
  /** Absolute, in lower case. */
  readonly origin: Uint8Array
}

/** The result of loading a zone. */
export type LoadedZone =
  | { readonly kind: 'zone'; readonly zone: ZoneData }
  /** The serial is the known one. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'missing'; readonly reason: string }
  /** The file is invalid; `error` has the position, if there is one. */
  | { readonly kind: 'wrong'; readonly reason: string; readonly error?: ZoneFileError }

/** How to read files, and the event loop. */
type Reading = Turns & {
  /** @throws {Error} with the reason if a file cannot be read */
  readonly read: (path: string) => Promise<Uint8Array>
  /** Ends the reading early if the zone has this serial. */
  readonly knownSerial?: number | undefined
}

/**
 * Reads a zone. As in CoreDNS, NSEC3 records are invalid: the plugin cannot prove negative
 * responses with them.
 */
export async function loadZone(source: ZoneSource, reading: Reading): Promise<LoadedZone> {
  const pause = createPause(reading)
  const textOf = async (path: string): Promise<string> => decode(await reading.read(path), pause)
  let text: string
  try {
    text = await textOf(source.file)
  } catch (error) {
    return { kind: 'missing', reason: error instanceof Error ? error.message : String(error) }
  }
  try {
    return await readRecords(source, text, { ...reading, pause, textOf })
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    return { kind: 'wrong', reason: error.message, error }
  }
}

/** Decodes UTF-8: 64 MiB in one piece take 60 ms. */
async function decode(bytes: Uint8Array, pause: Pause): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true })
    await pause()
  }
  return text + decoder.decode()
}

async function readRecords(
  { file, origin }: ZoneSource,
  text: string,
  reading: Reading & {
    readonly pause: Pause
    readonly textOf: (path: string) => Promise<string>
  },
): Promise<LoadedZone> {
  const { knownSerial, pause, textOf } = reading
  const builder = new ZoneBuilder(origin)
  const steps = zoneFileSteps({ file, text, origin })
  let hasSoa = false
  for (let next = steps.next(); next.done !== true; ) {
    const { value } = next
    if ('include' in value) {
      next = steps.next(await textOf(value.include).catch(() => undefined))
      continue
    }
    if (value.type === TYPE.SOA && !hasSoa) {
      hasSoa = true
      if (soaSerial(value.rdata) === knownSerial) return { kind: 'unchanged' }
    }
    const reason = refusal(value)
    if (reason !== undefined) return { kind: 'wrong', reason }
    builder.add(value)
    const paused = pause()
    if (paused !== undefined) await paused
    next = steps.next()
  }
  const zone = await inSlices(builder.finish(), reading)
  if (zone !== undefined) return { kind: 'zone', zone }
  return { kind: 'wrong', reason: `zone "${formatName(origin)}" has no SOA record` }
}

function refusal({ type, owner }: ResourceRecord): string | undefined {
  if (type !== TYPE.NSEC3 && type !== TYPE.NSEC3PARAM) return undefined
  const name = formatName(owner)
  return `a ${formatType(type)} record at "${name}": zones are signed with NSEC records only`
}
