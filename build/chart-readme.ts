/**
 * Writes `deploy/chart/README.md` from the comments of values.yaml: `node build/chart-readme.ts`
 * after a change of one. A test compares the page with the values.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml'

const FOLDER = join(import.meta.dirname, '../deploy/chart')
const HEAD = `# The chart

\`node build/chart-readme.ts\` writes this page from the comments of [values.yaml](values.yaml). [Deploying](../README.md) has the steps.

Values of the chart \`coredns\` of [coredns/helm](https://github.com/coredns/helm) work at the top level, as there, and are those of \`server\`:
\`servers\` become its Corefile, \`service\` its Service, \`hpa\` and \`autoscaler\` its scaling, \`prometheus.monitor\` a ServiceMonitor. What
this chart cannot do of them is refused by name. Only \`image\` must be another.

\`pod.annotations\`, \`pod.env\`, \`pod.volumes\` and the other keys of \`pod\`, and images as text, are of earlier charts, and work with a warning.
`
const TABLE = '| value | default | meaning |\n|---|---|---|\n'

/** Returns the page. @throws {Error} for a value without a comment */
export function writeChartReadme(): string {
  const document = parseDocument(readFileSync(join(FOLDER, 'values.yaml'), 'utf8'))
  if (!isMap(document.contents)) throw new Error('values.yaml is no map')
  let page = HEAD
  // The first comment of a file is that of the file.
  let first: string | null | undefined = document.contents.commentBefore ?? document.commentBefore
  let isOpen = false
  for (const pair of document.contents.items) {
    const [title = '', text] = commentOf(pair, first)
    first = undefined
    const name = nameOf(pair)
    if (hasRows(pair)) {
      page += `\n## ${name}\n\n${title}\n\n${TABLE}${rowsOf(`${name}.`, pair.value)}`
      isOpen = false
      continue
    }
    if (!isOpen) page += `\n## Names and labels\n\n${title}\n\n${TABLE}`
    page += row(name, pair, isOpen ? title : (text ?? title))
    isOpen = true
  }
  return page
}

type Rows = Pair & { readonly value: YAMLMap }

/** Says whether values below this one have rows of their own: flow maps have not. */
function hasRows(pair: Pair): pair is Rows {
  const { value } = pair
  if (!isMap(value) || value.flow === true) return false
  return typeof value.commentBefore === 'string' || value.items.some(isCommented)
}

function isCommented(pair: Pair): boolean {
  return isScalar(pair.key) && typeof pair.key.commentBefore === 'string'
}

function rowsOf(prefix: string, map: YAMLMap): string {
  let rows = ''
  let first: string | null | undefined = map.commentBefore
  for (const pair of map.items) {
    const paragraphs = commentOf(pair, first)
    first = undefined
    const text = paragraphs.at(-1) ?? ''
    if (paragraphs.length > 1) rows += `\n${paragraphs[0]}\n\n${TABLE}`
    const name = `${prefix}${nameOf(pair)}`
    rows += row(name, pair, text)
    if (hasRows(pair)) rows += rowsOf(`${name}.`, pair.value)
  }
  return rows
}

function nameOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key)
}

/** Returns the paragraphs of a comment. */
function commentOf(pair: Pair, first: string | null | undefined): string[] {
  const own = isScalar(pair.key) ? pair.key.commentBefore : undefined
  const text = own ?? first
  if (typeof text !== 'string') throw new Error(`${nameOf(pair)} has no comment in values.yaml`)
  return text.split(/\n\s*\n/).map((part) => part.replace(/\s*\n\s*/g, ' ').trim())
}

function row(name: string, pair: Pair, text: string): string {
  return `| \`${name}\` | ${defaultOf(pair)} | ${text.replaceAll('|', '\\|')} |\n`
}

function defaultOf(pair: Pair): string {
  if (hasRows(pair)) return ''
  const value: unknown =
    isScalar(pair.value) || isMap(pair.value) ? pair.value.toJSON() : pair.value
  if (value === '') return '–'
  if (typeof value === 'string' && value.includes('\n')) return 'in values.yaml'
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  return `\`${text}\``
}

if (import.meta.main) writeFileSync(join(FOLDER, 'README.md'), writeChartReadme())
