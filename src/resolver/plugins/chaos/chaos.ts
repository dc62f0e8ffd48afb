/**
 * The `chaos` plugin: answers queries of class CH for the server's version, authors and hostname
 * (RFC 4892).
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { nameKey, nameOf } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { characterStrings } from '../../../dns/rdata/character-string.ts'
import { PROGRAM, VERSION } from '../../../dns/telemetry/version.ts'
import { EMPTY_REPLY, type Reply } from '../../../dns/wire/message.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import { permute } from '../../plugin-kit/shuffle.ts'

/** Bytes of a string within a TXT record (RFC 1035 §3.3). */
const STRING_BYTES_MAX = 255
const AUTHORS: readonly string[] = [`the ${PROGRAM} authors`]

type Facts = ReadonlyMap<string, () => readonly string[]>

/**
 * Configures `chaos [VERSION [AUTHOR…]]`. Authors come in random order. Other queries go on
 * to the next plugin.
 */
export const chaosPlugin: PluginEntry = {
  name: 'chaos',
  counts: 'first',
  answers: { takesAll: false },
  takesAnyClass: true,
  setup: (directives, { host }) => {
    const [version, ...authorWords] = onlyArgs(directives)
    const authors = authorWords.length === 0 ? AUTHORS : textsOf(authorWords)
    const versionText = version?.text ?? `${PROGRAM}-${VERSION}`
    const facts = factsOf({
      version: () => [versionText],
      authors: () => permute([...authors], host.random16),
      hostname: () => [host.hostname],
    })
    return {
      plugin: {
        name: 'chaos',
        // The fast path is for class IN only.
        fastPath: {},
        serve: (request, next) => {
          if (request.class !== CLASS.CH || request.type !== TYPE.TXT) return next(request)
          const texts = facts.get(nameKey(request.lowerName))
          return texts === undefined ? next(request) : answer(request, texts())
        },
      },
    }
  },
}

/** Returns the texts for the names of RFC 4892 and their predecessors. */
function factsOf({
  version,
  authors,
  hostname,
}: Readonly<Record<'version' | 'authors' | 'hostname', () => readonly string[]>>): Facts {
  const named: readonly [string, () => readonly string[]][] = [
    ['version.bind', version],
    ['version.server', version],
    ['authors.bind', authors],
    ['hostname.bind', hostname],
    ['id.server', hostname],
  ]
  return new Map(named.map(([name, texts]) => [nameKey(nameOf(name)), texts]))
}

function textsOf(words: readonly Word[]): readonly string[] {
  return [...new Set(words.map(({ text }) => text))]
}

function answer({ name: owner }: Request, texts: readonly string[]): Reply {
  const common = { owner, type: TYPE.TXT, class: CLASS.CH, ttlSeconds: 0 }
  return { ...EMPTY_REPLY, answer: texts.map((text) => ({ ...common, rdata: stringRdata(text) })) }
}

function stringRdata(text: string): Uint8Array {
  return characterStrings(new TextEncoder().encode(text).subarray(0, STRING_BYTES_MAX))
}
