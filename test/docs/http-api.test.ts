/**
 * docs/http-api.md has every route and every error of the code, and nothing else.
 * @module
 */
import assert from 'node:assert/strict'
import type { Hono } from 'hono'
import { describe, test } from 'vitest'
import { createMiniK8sApp } from '../../src/cli/export/export-mini-k8s.ts'
import type { MiniK8sObjects } from '../../src/cli/export/mini-k8s-objects.ts'
import { createDohApp } from '../../src/gateway/doh/app.ts'
import { withToken } from '../gateway/running.ts'
import { codes, filesBelow, read, section, tableRows } from './pages.ts'

const PAGE = read('docs/http-api.md')
const SOURCES = [...filesBelow('src', '.ts'), ...filesBelow('worker', '.ts')]
/** Files that make an app: another one has routes that this test would not see. */
const APPS = [
  'src/cli/export/export-mini-k8s.ts',
  'src/cli/export/export-status.ts',
  'src/gateway/doh/app.ts',
  'src/gateway/doh/explain-route.ts',
  'src/gateway/routes/app.ts',
  'src/gateway/routes/audit-route.ts',
  'src/gateway/routes/backup-route.ts',
  'src/gateway/routes/cluster-routes.ts',
  'src/gateway/routes/exchange-route.ts',
  'src/gateway/routes/generation-routes.ts',
  'src/gateway/routes/ingest-trace.ts',
  'src/gateway/routes/kit-route.ts',
  'src/gateway/routes/names-route.ts',
  'src/gateway/routes/object-token-route.ts',
  'src/gateway/routes/replica-routes.ts',
  'src/gateway/routes/status-route.ts',
  'src/gateway/routes/token-routes.ts',
  'src/gateway/snapshots/publish-routes.ts',
  'src/server/serve/feature-servers.ts',
]

/** Errors as the code writes them: a status, and behind it the code. */
const ERRORS = [
  /(?:new HttpError|refused)\(\s*(\d{3}),\s*'(\w+)'/g,
  /\{ status: (\d{3}), code: '(\w+)'/g,
  /jsonResponse\((\d{3}), \{\s*error: \{ code: '(\w+)'/g,
  /\[(\d{3}), '(\w+)', '/g,
  /\?\? \[(\d{3}), '(\w+)'/g,
]

function routesOf(app: Hono): readonly string[] {
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`)
  return [...new Set(routes)].sort()
}

function documented(heading: string, cell: number): readonly string[] {
  return tableRows(section(PAGE, heading))
    .flatMap((row) => codes(row[cell] ?? ''))
    .map((route) =>
      route
        .replace('/ID', '/:id')
        .replace('/NAMESPACE', '/:namespace')
        .replace('/NAME', '/:name')
        .replace('TOKEN', ':token')
        .replace(/FILE$/, ':file')
        .replace(/KEY$/, ':key')
        .replace(/SHA256$/, ':sha256'),
    )
}

describe('docs/http-api.md', () => {
  test('has the routes of a gateway', async () => {
    const { app } = await withToken()
    // Only the gateway on Node has this one, before its app.
    const [, path] = /const PATH = '(.*)'/.exec(read('src/server/gateway/readiness.ts')) ?? []
    const routes = [...routesOf(app), `GET ${path}`].sort()
    assert.deepEqual([...documented('## Routes of a gateway', 0)].sort(), routes)
  })

  test('has the routes of serve and export', () => {
    const doh = createDohApp({ answer: () => undefined, isPrivate: () => false })
    const mini = createMiniK8sApp({} as MiniK8sObjects, '')
    const literal = [
      'src/cli/export/export-status.ts',
      'src/server/serve/feature-servers.ts',
    ].flatMap((file) =>
      [...read(file).matchAll(/(?:app\.get|pages\.set)\('(\/[^']*)'/g)].map(
        ([, path]) => `GET ${path}`,
      ),
    )
    assert.deepEqual(
      [...documented('## Routes of `serve` and `export`', 1)].sort(),
      [...routesOf(doh), ...routesOf(mini), ...literal, 'GET /v1/explain'].sort(),
    )
  })

  test('sees every app', () => {
    const makers = SOURCES.filter((file) => read(file).includes('new Hono('))
    assert.deepEqual(makers, APPS)
  })

  test('has every error, and no other', () => {
    const inCode = SOURCES.flatMap((file) => {
      const text = read(file)
      return ERRORS.flatMap((pattern) => [...text.matchAll(pattern)].map((m) => `${m[1]} ${m[2]}`))
    })
    const onPage = tableRows(section(PAGE, '## Errors')).map(
      ([status, code = '']) => `${status} ${codes(code)[0]}`,
    )
    assert.deepEqual([...onPage].sort(), [...new Set(inCode)].sort())
  })

  test('sees every error: only a result of the writer has a status from elsewhere', () => {
    const computed = SOURCES.filter((file) => /new HttpError\(\s*(?!\d{3},\s*')/.test(read(file)))
    assert.deepEqual(computed, ['src/gateway/snapshots/publish-routes.ts'])
    const kinds = SOURCES.filter((file) => read(file).includes('extends HttpError'))
    assert.deepEqual(kinds, ['src/gateway/snapshots/store.ts'])
  })

  test('has every header of ours', () => {
    const own = SOURCES.flatMap((file) => [...read(file).matchAll(/'(kubedoh-[a-z-]+)'/g)]).map(
      ([, name]) => name,
    )
    const onPage = codes(section(PAGE, '## Headers')).filter((name) => name.startsWith('kubedoh-'))
    assert.deepEqual([...new Set(onPage)].sort(), [...new Set(own)].sort())
  })
})
