/**
 * Wraps comments at 100 columns, which the formatter of code leaves as they are: `npm run format`
 * does it, `npm run check` lists the lines first of all.
 *
 *     node build/comments.ts [--check]
 * @module
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FILES = '{src,worker,page,build,demo,test,bench,examples}/**/*.{ts,tsx}'
const COLUMNS_MAX = 100
/** A line of a comment: its start, and its text. */
const COMMENT = /^(\s*(?:\/\*\*|\*|\/\/) )(.*)$/
/** Text that is no sentence which goes on: a tag, an item of a list, a row, an indented example. */
const BLOCK = /^(?:@|[-*|#]|\d+\.|\s|$)/

/** Returns the numbers, from 1, of a file's comment lines that are too wide and can be wrapped. */
export function wideComments(text: string): number[] {
  return text.split('\n').flatMap((line, i) => (isWide(line) ? [i + 1] : []))
}

/** Returns a file with its wide comment lines wrapped; what does not fit moves to the next line. */
export function wrapComments(text: string): string {
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (!isWide(line)) continue
    const opens = line.includes('/** ')
    const closes = opens && line.endsWith(' */')
    const [, start = '', words = ''] = COMMENT.exec(opened(line)) ?? []
    const cut = words.lastIndexOf(' ', COLUMNS_MAX - start.length)
    const rest = words.slice(cut + 1)
    const [, next = '', following = ''] = COMMENT.exec(lines[i + 1] ?? '') ?? []
    const goesOn = next === start && !closes && !BLOCK.test(following)
    const wrapped = [`${start}${words.slice(0, cut)}`, `${start}${rest}`]
    if (goesOn) wrapped[1] += ` ${following}`
    const indent = start.slice(0, -2).replace(/\S.*$/, '')
    if (opens) wrapped.unshift(`${indent.slice(0, -1)}/**`)
    if (closes) wrapped.push(`${indent}*/`)
    lines.splice(i, goesOn ? 2 : 1, ...wrapped)
  }
  return lines.join('\n')
}

/** Turns a comment of one line into a line of a longer one. */
const opened = (line: string): string =>
  line.replace(/^(\s*)\/\*\* (.*?)(?: \*\/)?$/, (_, indent, text) => `${indent} * ${text}`)

function isWide(line: string): boolean {
  const [, start = '', words = ''] = COMMENT.exec(line) ?? []
  const hasBreak = words.slice(0, COLUMNS_MAX - start.length).includes(' ')
  return line.length > COLUMNS_MAX && hasBreak && !words.startsWith('|')
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check')
  for (const file of globSync(FILES, { cwd: ROOT })) {
    const path = join(ROOT, file)
    const text = readFileSync(path, 'utf8')
    const wide = wideComments(text)
    if (wide.length === 0) continue
    if (!isCheck) writeFileSync(path, wrapComments(text))
    for (const line of wide) {
      process.stdout.write(
        `${file}:${line}: ${isCheck ? 'a comment over 100 columns' : 'wrapped'}\n`,
      )
    }
    if (isCheck) process.exitCode = 1
  }
  if (process.exitCode === 1) process.stdout.write('Run "npm run format", which wraps them.\n')
}
