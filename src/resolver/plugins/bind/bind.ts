/**
 * The `bind` plugin: the addresses or interfaces to listen on.
 * @module
 */

import { argTexts, type OptionReaders, readOptions } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import type { Feature } from '../../contract/feature.ts'
import type { Host } from '../../contract/host.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const READERS: OptionReaders<Word[]> = {
  except: (option, except) => {
    argTexts(option, 1, Infinity)
    except.push(...option.args)
  },
}

/**
 * Configures `bind ADDRESS|INTERFACE… { except ADDRESS|INTERFACE… }`. Several directives add up;
 * `except` applies to its own directive only.
 */
export const bindPlugin: PluginEntry = {
  name: 'bind',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: `"--listen" is the address of "kubedoh gateway", and Cloudflare has a Worker's`,
  },
  isApart: true,
  hasListArgs: true,
  blockSettings: (directives) => ({
    addresses: directives.flatMap(({ args }) => args.map(({ text }) => text)),
  }),
  setup: (directives, { host }) => ({
    features: directives.map((directive) => bindOf(directive, host)),
  }),
}

function bindOf(directive: Directive, host: Host): Feature {
  if (directive.args.length === 0) {
    throw configError(directive, '"bind" needs an address or an interface')
  }
  const except = readOptions<Word[]>(directive, READERS, [])
  for (const word of [...directive.args, ...except]) {
    if (parseAddress(word.text) !== undefined || host.isInterface?.(word.text) !== false) continue
    const message = `"${word.text}" is neither an address nor an interface of this machine`
    throw configError(word, message)
  }
  const texts = (words: readonly Word[]): string[] => words.map(({ text }) => text)
  return { kind: 'bind', addresses: texts(directive.args), except: texts(except) }
}
