/**
 * Reads pages, sources and their tables for the tests of the documents.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** The folder of the repository. */
export const ROOT: string = join(import.meta.dirname, '../..')

/** Returns a file's text, by its path from the root. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Returns the paths of all files below a folder whose names end with `ending`, sorted. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

/** Returns the part of a page below a heading, up to the next heading. */
export function section(page: string, heading: string): string {
  const start = page.indexOf(`${heading}\n`)
  if (start < 0) throw new Error(`the page has no ${heading}`)
  const rest = page.slice(start + heading.length)
  const end = rest.search(/^#/m)
  return end < 0 ? rest : rest.slice(0, end)
}

/** Returns the cells of all table rows but the heads. */
export function tableRows(text: string): readonly (readonly string[])[] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  return rows
    .filter((_, i) => !/^\|---/.test(rows[i] ?? '') && !/^\|---/.test(rows[i + 1] ?? ''))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
}

/** A page of docs/sources: a Corefile, objects, and the answers that they give. */
export type SourcePage = {
  readonly page: string
  readonly corefile: string
  readonly objects: string
  /** The keys of an etcd, if the example has some. */
  readonly keys: Readonly<Record<string, unknown>>
  /** Records as text, and the client's address, '' for any. */
  readonly answers: readonly { readonly line: string; readonly client: string }[]
}

/** Reads the pages of docs/sources but for the overview. */
export function sourcePages(): readonly SourcePage[] {
  const pages = filesBelow('docs/sources', '.md').filter((page) => !page.endsWith('README.md'))
  return pages.map((page) => {
    const found = [...read(page).matchAll(/```(\w*)\n(.*?)```/gs)]
    const blocks = new Map(found.map(([, language = '', body = '']) => [language, body]))
    const [corefile, objects, answers] = ['corefile', 'yaml', ''].map((kind) => blocks.get(kind))
    const keys: { key: string; value: unknown }[] = JSON.parse(blocks.get('json') ?? '[]')
    const hasSource = objects !== undefined || keys.length > 0
    if (corefile === undefined || !hasSource || answers === undefined) {
      throw new Error(`${page}: a Corefile, objects or answers are missing`)
    }
    const lines = answers.trim().split('\n')
    return {
      page,
      corefile,
      objects: objects ?? '[]',
      keys: Object.fromEntries(keys.map(({ key, value }) => [key, value])),
      answers: lines.map((text) => {
        const [line = '', client = ''] = text.split(' ; to ')
        return { line, client }
      }),
    }
  })
}

/** Returns the texts in backquotes, outside of code blocks. */
export function codes(text: string): readonly string[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, '')
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/**
 * Returns the value of a constant, or of a property, that is a product of numbers and
 * constants.
 */
export function constantValue(name: string, text: string): number {
  const found = new RegExp(
    `(?:const ${name}(?:: number)? =|^ +${name}:) ([\\dA-Z][\\w* ]*)`,
    'm',
  ).exec(text)
  if (found === null) throw new Error(`the file has no ${name}`)
  return (found[1] ?? '')
    .split('*')
    .map((factor) => factor.trim())
    .map((factor) =>
      /^\d/.test(factor) ? Number(factor.replaceAll('_', '')) : constantValue(factor, text),
    )
    .reduce((product, factor) => product * factor, 1)
}

/** Returns the YAML blocks of `docs` that have objects of Kubernetes, with page and line. */
export function objectBlocks(): readonly { page: string; place: string; text: string }[] {
  return filesBelow('docs', '.md').flatMap((page) => {
    const content = read(page)
    const blocks = [...content.matchAll(/^```ya?ml\n(.*?)^```/gms)]
    return blocks
      .filter(([, text = '']) => /^(- )?(apiVersion|kind):/m.test(text))
      .map(({ index, 1: text = '' }) => {
        const line = content.slice(0, index).split('\n').length
        return { page, place: `${page}:${line}`, text }
      })
  })
}
