/**
 * The `geoip` plugin: publishes the MaxMind database record of the client's address as metadata,
 * for `view` and other plugins.
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

/** The address family numbers of a subnet option (RFC 7871 §6). */
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
  throw configError(word, `"${word.text}" is a "${database.type}"; use a city or ASN database`)
}

function parseDatabase(word: Word, bytes: Uint8Array): Mmdb {
  try {
    return new Mmdb(bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw configError(word, `"${word.text}" is not a MaxMind database: ${error.message}`)
  }
}

/** Returns the address in the subnet option if `edns-subnet` is on, else the client's. */
function addressOf({ query, client }: ClientQuery, usesSubnet: boolean): Uint8Array | undefined {
  const subnet = usesSubnet && query.hasEdns ? subnetOf(query) : undefined
  return subnet ?? parseAddress(client.address.replace(/%.*$/, ''))
}

/** Returns the address in the subnet option, with zeros for omitted bytes. */
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
