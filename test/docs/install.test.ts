/**
 * The pages in docs/install: the commands and values that they show exist. The suite of the node
 * takes the steps of kubeadm's page.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { COMMANDS } from '../../src/cli/commands.ts'
import { isRecord } from '../../src/dns/bytes/unknown.ts'
import { filesBelow, read, section, tableRows } from './pages.ts'

const FOLDER = 'docs/install/'
const OVERVIEW = `${FOLDER}README.md`
const PAGES = filesBelow(FOLDER, '.md').filter((page) => page !== OVERVIEW)
const VALUES: unknown = parse(read('deploy/chart/values.yaml'))

function blocksOf(page: string, language: string): string[] {
  const blocks = read(page).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))
  return [...blocks].map(([, body = '']) => body)
}

/** The lines of all commands of a page. */
function commandsOf(page: string): string[] {
  return blocksOf(page, 'sh').flatMap((block) => block.split('\n').filter(Boolean))
}

/** Paths of values that the chart lacks: maps and lists that are empty there take any key. */
function unknownValues(given: unknown, known: unknown, path = ''): string[] {
  if (known === undefined) return [path]
  if (!isRecord(given) || !isRecord(known) || Object.keys(known).length === 0) return []
  return Object.entries(given).flatMap(([key, value]) =>
    unknownValues(value, known[key], path === '' ? key : `${path}.${key}`),
  )
}

/** Labels of the chart's server. */
function serverLabels(): readonly string[] {
  const documents = parseAllDocuments(read('deploy/manifests/own-service.yaml'))
  const pods = documents.map((one) => one.toJS()?.spec?.template?.metadata?.labels ?? {})
  return pods.flatMap((labels) => Object.entries(labels).map((pair) => pair.join('=')))
}

describe('pages of distributions', () => {
  test('are all in the overview, with a word on what has run', () => {
    const rows = tableRows(section(read(OVERVIEW), '# On your distribution'))
    const linked = rows.map(([, page = '']) => /\((.*)\)/.exec(page)?.[1])
    assert.deepEqual(linked.toSorted(), PAGES.map((page) => page.slice(FOLDER.length)).sort())
    for (const [name = '', , , , ran = ''] of rows) assert.match(ran, /^(no$|yes)/, name)
  })

  test('say on each page what has run, what comes back and how to go back', () => {
    for (const page of PAGES) {
      const text = read(page)
      assert.match(text, /^## What comes back/m, page)
      assert.ok(section(text, '## Back').trim().length > 0, page)
      const ran = section(text, '## What has run')
      assert.match(ran, /Nobody of us has run this on|`kubeadm upgrade` itself has not run/, page)
    }
  })

  for (const page of [OVERVIEW, 'docs/gateway.md', ...PAGES]) {
    test(`${page} has commands of a shell, with values of the chart`, () => {
      for (const block of blocksOf(page, 'sh')) {
        const { status, stderr } = spawnSync('sh', ['-n'], { input: block, encoding: 'utf8' })
        assert.equal(status, 0, stderr)
      }
      const commands = commandsOf(page)
      const helm = commands.filter((line) => /^helm (install|upgrade)/.test(line))
      for (const line of helm) {
        for (const [, key = ''] of line.matchAll(/--set(?:-file)? ([\w.]+)=/g)) {
          const keys = key.split('.')
          const given = keys.reduceRight<unknown>((inner, name) => ({ [name]: inner }), '')
          assert.deepEqual(unknownValues(given, VALUES), [], line)
        }
      }
      for (const [, text = ''] of blocksOf(page, 'sh')
        .join('')
        .matchAll(/<<'END'\n([\s\S]*?)\nEND/g)) {
        assert.deepEqual(unknownValues(parse(text), VALUES), [])
      }
    })

    test(`${page} names commands of kubedoh and labels of its pods`, () => {
      for (const line of commandsOf(page)) {
        if (line.startsWith('kubedoh ')) {
          assert.ok(
            COMMANDS.some(({ name }) => `${line} `.startsWith(`kubedoh ${name} `)),
            line,
          )
        }
        for (const [, patch = ''] of line.matchAll(/-p '([^']*)'/g)) {
          const [{ value }] = JSON.parse(patch)
          if (value['app.kubernetes.io/name'] !== 'kubedoh') continue
          const labels = serverLabels()
          for (const pair of Object.entries(value)) assert.ok(labels.includes(pair.join('=')), line)
        }
      }
    })
  }

  // A node that is cordoned can keep CoreDNS's pod Pending.
  for (const page of [...PAGES, ...filesBelow('docs/migration', '.md')]) {
    test(`${page} uninstalls the chart only once the other server is Ready`, () => {
      for (const block of blocksOf(page, 'sh')) {
        assert.doesNotMatch(block, / rollout status [^&]*helm uninstall/)
      }
    })
  }

  test('know values that the chart lacks', () => {
    const given = { server: { replica: 1, podLabels: { a: 'b' } }, servers: [] }
    assert.deepEqual(unknownValues(given, VALUES), ['server.replica', 'servers'])
  })

  test('put no label on Deployments by which kubeadm takes them for its own', () => {
    for (const manifest of filesBelow('deploy/manifests', '.yaml')) {
      for (const document of parseAllDocuments(read(manifest))) {
        const { kind, metadata } = document.toJS() ?? {}
        if (kind === 'Deployment') assert.equal(metadata.labels['k8s-app'], undefined, manifest)
      }
    }
  })
})
