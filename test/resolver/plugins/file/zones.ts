/**
 * Zones from text, for tests.
 * @module
 */
import { finish } from '../../../../src/dns/bytes/steps.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { ZoneBuilder, type ZoneData } from '../../../../src/resolver/plugins/file/zone-data.ts'
import { readZoneFile } from '../../../../src/snapshot/records/zone-file.ts'
import { block, type Server, serve } from '../../../ask.ts'
import type { FakeHostOptions } from '../../../fake-host.ts'

/** What every zone needs; names are below example.org, the TTL is an hour. */
export const APEX: string = '$TTL 1h\n@ SOA ns host 7 3600 600 86400 300\n@ NS ns\n'

/** Reads a zone from lines below those of its apex. */
export function zoneOf(lines: readonly string[], origin = 'example.org'): ZoneData {
  const builder = new ZoneBuilder(nameOf(origin))
  const text = APEX + lines.join('\n')
  const file = { file: 'db', text, origin: nameOf(origin) }
  for (const record of readZoneFile(file)) builder.add(record)
  const zone = finish(builder.finish())
  if (zone === undefined) throw new TypeError('A zone of a test must have an SOA record')
  return zone
}

/** Serves a zone for example.org, in a block for the root, with more directives. */
export function serveZoneText(lines: readonly string[], options: ZoneServer = {}): Server {
  const { head = 'file db example.org', more = [], upstream } = options
  const files = { db: APEX + lines.join('\n'), ...options.files }
  return serve(block(head, ...more), { files, ...(upstream && { upstream }) })
}

/** What a server of one zone has beside it. */
export type ZoneServer = {
  readonly head?: string
  readonly more?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  readonly upstream?: NonNullable<FakeHostOptions['upstream']>
}

/** The SOA and NS records of such a zone, in the authority section. */
export const SOA: string =
  'authority: example.org. 3600 IN SOA ns.example.org. host.example.org. 7 3600 600 86400 300'
export const NS: string = 'authority: example.org. 3600 IN NS ns.example.org.'
