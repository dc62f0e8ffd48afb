/**
 * Links of all Markdown lead to files and headings that exist; the index has every page once, and
 * the site's sidebar follows it.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { anchorOf, brokenLinks, linksOf, markdownFiles } from '../../build/docs/markdown-links.ts'
import { sidebarOf } from '../../build/docs/sidebar.ts'
import { brokenSiteLinks } from '../../build/docs/site-links.ts'
import { ROOT, read } from './pages.ts'

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-links-'))
  mkdirSync(join(folder, 'docs'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

describe('links', () => {
  test('of all Markdown lead somewhere', () => {
    assert.ok(markdownFiles(ROOT).length > 90)
    assert.deepEqual(brokenLinks(ROOT), [])
  })

  test('to missing files and headings are found', () => {
    const folder = folderWith({
      'a.md': '# One\n[1](docs/b.md) [2](docs/b.md#two) [3](#one) ![4](gone.png) `[5](gone.md)`\n',
      'docs/b.md': '[6](../a.md#one) [7](../a.md#two) [8](gone.md)\n```\n# two\n[9](gone)\n```\n',
    })
    assert.deepEqual(brokenLinks(folder), [
      'a.md: docs/b.md#two',
      'a.md: gone.png',
      'docs/b.md: ../a.md#two',
      'docs/b.md: gone.md',
    ])
  })

  test('of a built site to missing pages and anchors are found', () => {
    const folder = folderWith({
      'a.html': '<a href="/docs/b#x">1</a> <a href="#y">2</a> <img src="/c.png">',
      'docs/b.html': '<h1 id="x"></h1><a href="../a.html">3</a> <a href="./">4</a>',
    })
    assert.deepEqual([...brokenSiteLinks(folder)].sort(), [
      'a.html: #y leads nowhere',
      'a.html: /c.png leads nowhere',
      'docs/b.html: ./ leads nowhere',
    ])
  })

  for (const [heading, anchor] of [
    ['`node-cache` and [hosts](a.md)', 'node-cache-and-hosts'],
    ['What is wrong?', 'what-is-wrong'],
    ['A, B & C', 'a-b--c'],
    ['k8s_gateway', 'k8s_gateway'],
  ] as const) {
    test(`to "${heading}" have the anchor of GitHub`, () => {
      assert.equal(anchorOf(heading), anchor)
    })
  }
})

describe('docs/README.md', () => {
  const index = read('docs/README.md')

  test('has five chapters, and each page of docs once', () => {
    assert.equal(index.match(/^## /gm)?.length, 5)
    const links = linksOf(index)
    const pages = markdownFiles(join(ROOT, 'docs')).filter((page) => page !== 'README.md')
    const counts = [...pages, '../CONTRIBUTING.md', '../README.md'].map(
      (page) => [page, links.filter((link) => link === page).length] as const,
    )
    assert.deepEqual(
      counts.filter(([, count]) => count !== 1),
      [],
    )
  })

  test('is the sidebar of the site', () => {
    const sidebar = sidebarOf(
      '# D\n## A\n- [x](x.md), [y](x/y.md)\n- [z](z/README.md), [w](w.md#a)\n',
      'docs',
    )
    const y = { text: 'y', link: '/docs/x/y' }
    assert.deepEqual(sidebar, [
      {
        text: 'A',
        items: [
          { text: 'X', link: '/docs/x', collapsed: true, items: [y] },
          { text: 'Z', link: '/docs/z/' },
        ],
      },
    ])
    const chapters = sidebarOf(index, 'docs')
    assert.equal(chapters.length, 5)
    const plugins = chapters[1]?.items?.find(({ text }) => text === 'Plugins')
    assert.ok((plugins?.items?.length ?? 0) > 15)
  })
})
