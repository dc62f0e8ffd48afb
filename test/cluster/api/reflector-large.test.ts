import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import type { Collection } from '../../../src/cluster/api/object-api.ts'
import { Mirror, SERVICES, startWatch, WEB } from '../follow/mirror.ts'
import { page, value } from '../follow/scripted-api.ts'

const CONFIG_MAPS: Collection = {
  kind: 'ConfigMap',
  resource: 'services',
  path: '/api/v1/configmaps',
}

/** A ConfigMap with hosts, of which each has its own name. */
function configMap(name: string, version: number, hosts: number): string {
  const lines = Array.from({ length: hosts }, (_, i) => `192.0.2.1 h${i}.a.test\\n`).join('')
  const metadata = `name: ${name}, namespace: shop, resourceVersion: "${version}"`
  const labels = 'labels: { kubedoh.dev/hostnames: hosts }'
  return `{ metadata: { ${metadata}, ${labels} }, data: { hosts: "${lines}" } }`
}

async function start(t: TestContext, items = '', collection = SERVICES): Promise<Mirror> {
  const mirror = new Mirror(t, { collection })
  await startWatch(mirror, items)
  return mirror
}

describe('a collection is large', () => {
  test('before an object of 256 KiB is parsed', async (t) => {
    const mirror = await start(t)
    mirror.watch.send('ADDED', value(WEB), 256 * 1024 - 1)
    assert.deepEqual(mirror.news(), ['set: Service shop/web', 'change'])
    mirror.watch.send('MODIFIED', value(WEB), 256 * 1024)
    assert.equal(mirror.news()[0], 'large')
    assert.equal(mirror.reflector.isLarge, true)
  })

  test('with 2000 hostnames, of however few objects', async (t) => {
    const mirror = await start(t, `[${configMap('a', 1, 1000)}]`, CONFIG_MAPS)
    assert.equal(mirror.reflector.isLarge, false)
    mirror.watch.send('ADDED', value(configMap('b', 6, 999)))
    await mirror.clock.advance(0)
    assert.deepEqual([mirror.reflector.isLarge, mirror.news().includes('large')], [false, false])
    mirror.watch.send('ADDED', value(configMap('c', 7, 1)))
    await mirror.clock.advance(0)
    assert.deepEqual([mirror.reflector.isLarge, mirror.news().includes('large')], [true, true])
    mirror.watch.send('DELETED', value(configMap('b', 8, 999)))
    assert.equal(mirror.reflector.isLarge, false)
  })
})

test('a collection is listed once the objects of its list that take long are parsed', async (t) => {
  const mirror = new Mirror(t, { collection: CONFIG_MAPS })
  mirror.api.answer('services', page('5', `[${configMap('a', 1, 10)}]`))
  await mirror.start()
  assert.equal(mirror.reflector.hasSynced, true)
  assert.deepEqual(mirror.news(), ['set: ConfigMap shop/a', 'change', 'change'])
})
