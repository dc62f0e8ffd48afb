/**
 * Corefiles as people get them wrong: mutations of one, from a seed.
 * @module
 */

/** Words of one kind, to stand for another one of the kind. */
const ODD: readonly { readonly kind: RegExp; readonly words: readonly string[] }[] = [
  { kind: /^\d+$/, words: ['0', '-1', '1.5', '0x10', '4294967296', '1000000000', '5s', 'x'] },
  {
    kind: /^\d+(ms|s|m|h)$/,
    words: ['0', '0s', '-1s', '1h1m', '1d', '5', '.5s', '+5s', '1µs', '700h', '3000000h'],
  },
  {
    kind: /^[a-z0-9-]+(\.[a-z0-9-]+)+\.?$/,
    words: [
      '.',
      'EXAMPLE.org',
      'a.org:53',
      'dns://a.org',
      '10.0.0.0/23',
      '2001:db8::/33',
      '*.a.org',
    ],
  },
  { kind: /^/, words: ['"a b"', 'A', 'ANY', 'off', '{$UNSET}', '{$ODD}', 'x#y'] },
]
const OPTIONS = ['fallthrough', 'ttl 5', 'reload 5s', 'none', 'prefetch 1']
const DIRECTIVES = [
  'any',
  'reload',
  'minimal',
  'bufsize 1232',
  'chaos',
  'errors',
  'log',
  'cache',
  'nothing',
]

type Random = () => number

/** Returns a Corefile with one or two changes. */
export function mutateCorefile(text: string, random: Random): string {
  const once = mutateOnce(text, random)
  return random() < 0.3 ? mutateOnce(once, random) : once
}

function pick<T>(random: Random, from: readonly [T, ...T[]] | readonly T[]): T {
  const found = from[Math.floor(random() * from.length)]
  if (found === undefined) throw new RangeError('nothing to pick from')
  return found
}

function mutateOnce(text: string, random: Random): string {
  if (random() < 0.15) return pick(random, WHOLE)(text)
  const lines = text.split('\n')
  const usable = [...lines.keys()].filter((i) => /^\s*[^\s#}]/.test(lines[i] ?? ''))
  const at = pick(random, usable)
  const line = lines[at] ?? ''
  const [, indent = '', body = '', brace = ''] = /^(\s*)(.*?)( \{)?$/.exec(line) ?? []
  const words = body.split(/\s+/)
  const changed = pick(random, CHANGES)(words, random)
  if (changed !== undefined) lines[at] = `${indent}${changed.join(' ')}${brace}`
  else lines.splice(at + (brace === '' ? 0 : 1), 0, added({ line, indent, brace }, random))
  return lines.join('\n')
}

/** A line to add: the same one again, an option of any plugin, or a directive. */
function added(
  { line, indent, brace }: { line: string; indent: string; brace: string },
  random: Random,
): string {
  if (brace === '' && random() < 0.5) return line
  return indent === '' ? pick(random, DIRECTIVES) : pick(random, [...OPTIONS, ...DIRECTIVES])
}

const WHOLE: readonly ((text: string) => string)[] = [
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => `\ufeff${text}`,
  (text) => `${text}}\n`,
  (text) => text.replace(/\}\s*$/, ''),
  (text) => text + text,
  (text) => text.replace(' {', '\n{'),
  (text) => `(all) {\nerrors\nreload\n}\n${text.replace('{\n', '{\nimport all\nimport all\n')}`,
]

/** Changes of a line's words; `undefined` adds another line instead. */
const CHANGES: readonly ((words: readonly string[], random: Random) => string[] | undefined)[] = [
  () => undefined,
  (words) => [...words, ...words.slice(-1)],
  (words) => (words.length > 1 ? words.slice(0, -1) : [...words, 'x']),
  (words) => (words.length > 2 ? [...words.slice(0, -2), ...words.slice(-2).reverse()] : undefined),
  (words) => [words[0] ?? '', ...words.slice(1).map((word) => `"${word}"`)],
  (words, random) => [...words, pick(random, pick(random, ODD).words)],
  replaceOne,
  replaceOne,
  replaceOne,
]

function replaceOne(words: readonly string[], random: Random): string[] {
  if (words.length === 1) return [...words, 'x']
  const at = 1 + Math.floor(random() * (words.length - 1))
  const kind = ODD.find((one) => one.kind.test(words[at] ?? ''))
  return words.with(at, pick(random, kind?.words ?? []))
}
