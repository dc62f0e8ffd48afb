/**
 * The `geoip` plugin: what a database of MaxMind's form knows of the client's address, for `view`
 * and whatever else reads metadata.
 * @module
 */

import { byteAt, readUint16 } from '../../bytes/bytes.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { ClientQuery } from '../../chain/request.ts'
import type { Setup, SetupContext } from '../../chain/setup.ts'
import {
  argTexts,
  checkArgs,
  onlyDirective,
  options,
  unknownOption,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { parseAddress } from '../../dns/address.ts'
import { OPTION, parseOptions } from '../../dns/edns.ts'
import { hasLabel, readLabel, type Schema, schemaOf } from './labels.ts'
import { Mmdb } from './mmdb.ts'

/** Families of addresses in a subnet option (RFC 7871 §6). */
const FAMILY_IPV6 = 2
const PREFIX_OFFSET = 4

/** Configures `geoip DATABASE { edns-subnet }`. */
const setup: Setup = (directives, context) => {
  const directive = onlyDirective(directives)
  const [word] = checkArgs(directive, 1)
  if (word === undefined) throw configError(directive, '"geoip" needs the path of a database')
  const usesSubnet = readsSubnet(directive)
  const { database, schema } = openDatabase(word, context)
  return {
    plugins: [
      {
        name: 'geoip',
        metadata: (label, clientQuery) => {
          if (!hasLabel(schema, label)) return undefined
          const address = addressOf(clientQuery, usesSubnet)
          return address && readLabel(schema, label, database.find(address))
        },
      },
    ],
  }
}

/** The entry of `geoip`. */
export const geoipPlugin: PluginEntry = {
  name: 'geoip',
  setup,
}

function readsSubnet(directive: Directive): boolean {
  const all = options(directive)
  for (const option of all) {
    if (option.name !== 'edns-subnet') throw unknownOption('geoip', option, ['edns-subnet'])
    argTexts(option, 0)
  }
  return all.length > 0
}

function openDatabase(
  word: Word,
  { host, pathOf }: SetupContext,
): { readonly database: Mmdb; readonly schema: Schema } {
  const bytes = host.readBytes?.(pathOf(word.text))
  if (bytes === undefined) throw configError(word, `cannot read "${word.text}"`)
  const database = parseDatabase(word, bytes)
  const schema = schemaOf(database)
  if (schema !== undefined) return { database, schema }
  throw configError(
    word,
    `"${word.text}" is a "${database.type}": it tells neither cities nor ASNs`,
  )
}

function parseDatabase(word: Word, bytes: Uint8Array): Mmdb {
  try {
    return new Mmdb(bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw configError(word, `"${word.text}" is no database of MaxMind's form: ${error.message}`)
  }
}

/** The client's address, or the one that it asks on behalf of. */
function addressOf({ query, client }: ClientQuery, usesSubnet: boolean): Uint8Array | undefined {
  const told = usesSubnet && query.hasEdns ? subnetOf(query) : undefined
  return told ?? parseAddress(client.address.replace(/%.*$/, ''))
}

/** Bytes that the option leaves out are zero. */
function subnetOf({
  bytes,
  optionsStart,
  optionsBytes,
}: ClientQuery['query']): Uint8Array | undefined {
  const option = parseOptions(bytes, optionsStart, optionsBytes).find(
    ({ code }) => code === OPTION.CLIENT_SUBNET,
  )
  if (option === undefined || option.data.length < PREFIX_OFFSET) return undefined
  const address = new Uint8Array(readUint16(option.data, 0) === FAMILY_IPV6 ? 16 : 4)
  const size = Math.min(address.length, option.data.length - PREFIX_OFFSET)
  for (let i = 0; i < size; i++) address[i] = byteAt(option.data, PREFIX_OFFSET + i)
  return address
}
