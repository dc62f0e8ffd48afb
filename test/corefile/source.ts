/**
 * Corefiles for tests: files in memory, and what was read as text again.
 * @module
 */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import type { CorefileSource } from '../../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { ConfigError } from '../../src/corefile/problem.ts'
import type { Directive, Line, ServerBlock } from '../../src/corefile/server-block.ts'
import type { ZoneKey } from '../../src/corefile/zone-key.ts'
import { formatName } from '../../src/dns/names/name.ts'

/** Where the Corefiles of these tests are. */
export const COREFILE = '/etc/Corefile'

/** What is there beside a Corefile. */
export type Surroundings = {
  /** Texts by their absolute paths. */
  readonly files?: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, string>>
}

/** Files and variables in memory. */
export function sourceOf({ files = {}, variables = {} }: Surroundings = {}): CorefileSource {
  return {
    readText: (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
    glob: (pattern) => {
      const expression = pattern
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^/]*')
        .replaceAll('?', '[^/]')
      return Object.keys(files)
        .filter((path) => new RegExp(`^${expression}$`).test(path))
        .sort()
    },
    resolvePath: (from, path) => posix.resolve(posix.dirname(from), path),
    environment: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
  }
}

/** Parses a Corefile's text. */
export function parse(text: string, surroundings: Surroundings = {}): ServerBlock[] {
  return parseCorefile(text, COREFILE, sourceOf(surroundings))
}

/** The one directive in a server block for the root. */
export function directiveOf(text: string): Directive {
  const [block] = parse(`. {\n${text}\n}`)
  const [directive, ...others] = block?.directives ?? []
  assert.ok(directive)
  assert.deepEqual(others, [])
  return directive
}

/** What a step refuses, one line for each problem, without the path of the Corefile. */
export function problemsOf(step: () => unknown): string[] {
  try {
    step()
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message.split('\n').map((line) => line.replace(`${COREFILE}:`, ''))
  }
  return []
}

/** A server block as one line: `zones | directive words { line ; line } | directive`. */
export function outline({ keys, directives }: ServerBlock): string {
  const parts = directives.map((one) =>
    [one.name, ...one.args.map(({ text }) => text), ...outlineLines(one.lines)].join(' '),
  )
  return [keys.map(outlineKey).join(' '), ...parts].join(' | ')
}

/** A zone key in one spelling. */
export function outlineKey({ transport, zone, port }: ZoneKey): string {
  const scheme = transport === 'dns' ? '' : `${transport}://`
  return `${scheme}${formatName(zone)}${port === undefined ? '' : `:${port}`}`
}

function outlineLines(lines: readonly Line[]): string[] {
  if (lines.length === 0) return []
  const texts = lines.map((line) =>
    [...line.words.map(({ text }) => text), ...outlineLines(line.lines)].join(' '),
  )
  return ['{', texts.join(' ; '), '}']
}
