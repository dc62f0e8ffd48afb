/**
 * Links of the built site that lead nowhere: pages, anchors and pictures.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** Returns `PAGE: TARGET` for each link of the site in `folder` that lacks its file or anchor. */
export function brokenSiteLinks(folder: string): readonly string[] {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => join(folder, path))
  const texts = new Map(pages.map((path) => [path, readFileSync(path, 'utf8')]))
  return pages.flatMap((page) => {
    const targets = [...(texts.get(page) ?? '').matchAll(/ (?:href|src)="([^"]+)"/g)]
    return targets
      .map(([, target = '']) => target.replaceAll('&amp;', '&'))
      .filter((target) => !/^([a-z]+:|\/\/)/.test(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#')
        const found = path === '' ? page : fileOf(folder, page, decodeURI(path))
        if (found === undefined) return true
        const isPage = anchor !== undefined && anchor !== '' && found.endsWith('.html')
        return isPage && !texts.get(found)?.includes(` id="${decodeURIComponent(anchor)}"`)
      })
      .map((target) => `${relative(folder, page)}: ${target} leads nowhere`)
  })
}

function fileOf(folder: string, page: string, path: string): string | undefined {
  const target = path.startsWith('/') ? join(folder, path) : resolve(dirname(page), path)
  const files = path.endsWith('/') ? [join(target, 'index.html')] : [target, `${target}.html`]
  return files.find((file) => existsSync(file))
}
