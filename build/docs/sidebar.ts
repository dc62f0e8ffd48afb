/**
 * The site's sidebar, from the index of the documentation: its chapters and their links.
 * @module
 */
import { posix } from 'node:path'

/** An entry of VitePress's sidebar. */
export type SidebarItem = {
  text: string
  link?: string
  collapsed?: boolean
  items?: SidebarItem[]
}

/** A link in the index: `[text](target)`. */
const LINK = /\[([^\]]+)\]\(([^)#\s]+\.md)\)/g

/**
 * Returns a group for each chapter. Pages in the folder of an overview, which is the README.md of
 * that folder or the page with its name, are entries below it.
 * @param index Markdown of the index
 * @param folder path of the index's folder on the site, such as `docs`
 */
export function sidebarOf(index: string, folder: string): SidebarItem[] {
  const [, ...chapters] = index.split(/^## /m)
  return chapters.map((chapter) => {
    const [text = ''] = chapter.split('\n', 1)
    const items: SidebarItem[] = []
    const overviews = new Map<string, SidebarItem>()
    for (const [, name = '', target = ''] of chapter.matchAll(LINK)) {
      const path = posix.join('/', folder, target)
      const link = pageLink(path)
      const overview = overviews.get(posix.dirname(path))
      if (overview === undefined) {
        const item: SidebarItem = { text: capitalized(name), link }
        items.push(item)
        overviews.set(path.replace(/(\/README)?\.md$/, ''), item)
      } else {
        overview.items = [...(overview.items ?? []), { text: name, link }]
        overview.collapsed = true
      }
    }
    return { text: text.trim(), items }
  })
}

/** Returns the link of a page on the site, where README.md is the index of its folder. */
export function pageLink(path: string): string {
  return path.replace(/README\.md$/, '').replace(/\.md$/, '')
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
