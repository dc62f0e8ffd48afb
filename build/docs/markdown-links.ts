/**
 * Headings and links of Markdown: anchors as GitHub writes them, and links that lead nowhere. The
 * site of the documentation has the same anchors.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const IGNORED = new Set(['node_modules', 'dist', 'coverage'])

/** Returns the paths of all Markdown files below `root`, relative to it and sorted. */
export function markdownFiles(root: string, folder: string = root): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !IGNORED.has(name) && (!name.startsWith('.') || name === '.github'))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return markdownFiles(root, path)
      return entry.name.endsWith('.md') ? [relative(root, path)] : []
    })
    .sort()
}

/** Returns the anchor of a heading; a repeated one gets `-1`, `-2` … behind it. */
export function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
  return text.replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '').replaceAll(' ', '-')
}

/** Returns the targets of the links and images of a page, without those in code. */
export function linksOf(page: string): readonly string[] {
  const inline = [...withoutCode(page).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)]
  return inline.map(([, target = '']) => target)
}

/** Returns `FILE: TARGET` for each relative link whose file or anchor does not exist. */
export function brokenLinks(root: string): readonly string[] {
  const anchors = new Map<string, ReadonlySet<string>>()
  const hasAnchor = (path: string, anchor: string): boolean => {
    const known = anchors.get(path) ?? anchorsOf(readFileSync(path, 'utf8'))
    anchors.set(path, known)
    return known.has(anchor)
  }
  return markdownFiles(root).flatMap((file) => {
    const links = linksOf(readFileSync(join(root, file), 'utf8'))
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? join(root, file) : resolve(root, dirname(file), path)
      if (!existsSync(target)) return true
      return anchor !== undefined && target.endsWith('.md') && !hasAnchor(target, anchor)
    })
    return broken.map((link) => `${file}: ${link}`)
  })
}

function anchorsOf(page: string): ReadonlySet<string> {
  const found = new Set<string>()
  const code = page.replaceAll(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, '')
  for (const [, heading = ''] of code.matchAll(/^#{1,6} (.+?)(?: #+)?$/gm)) {
    const anchor = anchorOf(heading)
    let unique = anchor
    for (let count = 1; found.has(unique); count++) unique = `${anchor}-${count}`
    found.add(unique)
  }
  return found
}

function withoutCode(page: string): string {
  const prose = page.replaceAll(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, '')
  return prose.replaceAll(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, 'code')
}
