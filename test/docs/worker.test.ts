/**
 * docs/worker.md: plans and costs follow from the units that it states, and bounds are the code's.
 * @module
 */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'vitest'
import { checkDeployment } from '../../src/cli/deploy/deployment.ts'
import { WORKER_NAME_MAX } from '../../src/cli/deploy/worker-name.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { read, section, tableRows } from './pages.ts'

const PAGE = read('docs/worker.md')
const COREFILE = '. {\n  whoami\n}\n'
const SILENT = new Writable({ write: (_chunk, _encoding, done) => done() })
/** A day of the Free plan, to Workers and to Durable Objects each. */
const FREE_REQUESTS = 100_000
const CONFIRMATION_SECONDS = 15
/** The token list and the manifest. */
const REQUESTS_PER_QUIET_QUERY = 2

function deploy(clusters: Readonly<Record<string, unknown>>): Promise<void> {
  const bindings = [{ name: 'CLUSTER' }, { name: 'TOKENS' }]
  const vars = { COREFILE, CLUSTERS: JSON.stringify(clusters) }
  return checkDeployment(
    { vars, durable_objects: { bindings } },
    { stdout: SILENT, stderr: SILENT },
  )
}

describe('docs/worker.md', () => {
  test('states the queries of the Free plan', () => {
    const confirmations = (24 * 3600) / CONFIRMATION_SECONDS
    const text = `${Math.floor((FREE_REQUESTS - confirmations) / 1000)},000`
    assert.equal(text, '94,000')
    for (const page of [PAGE, read('docs/faq.md')]) {
      assert.ok(page.includes(confirmations.toLocaleString('en')))
      assert.ok(page.includes(`${text} queries a day`))
    }
    assert.ok(read('src/cli/deploy/worker-files.ts').includes(`some ${text} queries a day`))
  })

  test('adds up the cost of a million queries', () => {
    const rows = tableRows(section(PAGE, '## Cost of a million further queries'))
    const [requests = 0, , busy = 0, quiet = 0] = rows.map((row) => Number.parseFloat(row[3] ?? ''))
    const units = Number.parseFloat(rows[3]?.[1] ?? '')
    assert.equal(units, REQUESTS_PER_QUIET_QUERY)
    assert.equal(quiet, units * Number.parseFloat(rows[3]?.[2] ?? ''))
    const range = `${(requests + busy).toFixed(2)} to ${(requests + quiet).toFixed(2)} $`
    assert.ok(PAGE.includes(`A million queries cost ${range}`), range)
    assert.ok(read('src/cli/deploy/worker-files.ts').includes(`cost ${range}`))
  })

  test('states how many clusters fit', async () => {
    const [, count = ''] = /^- \*\*Clusters\.\*\* (\d+) with identifiers of ten/m.exec(PAGE) ?? []
    const clusters: Record<string, unknown> = {}
    const { publicKey, tokenSha256 } = await createClusterKeys()
    for (let i = 0; i < Number(count); i++)
      clusters[`cluster-${10 + i}`] = { publicKey, tokenSha256 }
    await deploy(clusters)
    await assert.rejects(deploy({ ...clusters, 'one-more-1': { publicKey, tokenSha256 } }), {
      message: /^CLUSTERS has \d+ bytes, and Cloudflare takes 5120$/,
    })
  })

  test('states the bound on names', () => {
    assert.ok(PAGE.includes(`at most ${WORKER_NAME_MAX} characters`))
  })
})
