/**
 * docs/metrics.md has the metrics of the code, and the code declares all of them in one way.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { allMetrics, declaredMetrics, metricsPage } from '../../build/metrics-page.ts'
import { filesBelow, read } from './pages.ts'

const METRICS = allMetrics()

describe('docs/metrics.md', () => {
  test('is what the code declares; `node build/metrics-page.ts` writes it', () => {
    const page = read('docs/metrics.md')
    assert.equal(page, metricsPage(METRICS, page))
  })

  test('has every metric that the code names', () => {
    const names = METRICS.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
    const inCode = [...filesBelow('src', '.ts'), ...filesBelow('worker', '.ts')].flatMap((file) =>
      [...read(file).matchAll(/['`]((?:coredns|kubedoh|nodejs|process)_[a-z0-9_$]*)[^'`\s]*['`]/g)]
        .map(([, name = '']) => name)
        .filter((name) => !names.includes(name))
        .map((name) => `${file}: ${name}`),
    )
    assert.deepEqual(inCode, [])
  })

  test('keeps the version of a metric that the page has', () => {
    const metric = {
      name: 'kubedoh_a',
      type: 'gauge',
      labels: '',
      help: 'A.',
      file: 'src/server/a.ts',
    }
    const first = metricsPage([metric], '')
    const row = '| `kubedoh_a` | gauge | – | A. | – | 0.0.7 |'
    const page = metricsPage([metric], first.replace(/^\| `kubedoh_a.*$/m, row))
    assert.ok(page.includes(row))
    assert.ok(!first.includes(row))
  })

  test('refuses a metric that nothing counts', () => {
    const text = "const A = metricInfo('kubedoh_a', 'A.')\n"
    assert.throws(() => declaredMetrics('a.ts', text), /a\.ts: cannot read kubedoh_a/)
    const [found] = declaredMetrics('a.ts', `${text}metrics.histogram(A, BOUNDS)`)
    assert.equal(found?.type, 'histogram')
  })
})
