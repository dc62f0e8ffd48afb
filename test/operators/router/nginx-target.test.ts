import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { routeTable } from '../../../src/cluster/rules/route-table.ts'
import { nginxTarget } from '../../../src/operators/router/nginx-target.ts'
import { routeTo } from '../../cluster/host-route-cases.ts'

const SIGNAL = new AbortController().signal
const CONTEXT = {
  recordZones: [{ namespace: '*', zones: [''] }],
  serviceOf: () => ({ clusterIPs: ['10.96.0.1'], ports: [{ port: 80, protocol: 'TCP' }] }) as never,
}

function route(name: string, generation: number, path = '/'): HostObject {
  const metadata = { name, namespace: 'shop', uid: name, generation }
  return parseObject({
    kind: 'HostRoute',
    metadata,
    spec: { ...routeTo(path), host: `${name}.test` },
  }) as HostObject
}

test('what nginx refuses is the fault of the objects that changed', async () => {
  let answer: string | undefined
  let running: string | undefined = 'one'
  const target = nginxTarget(
    {
      ready: () => Promise.resolve(),
      take: () => Promise.resolve(answer),
      digest: () => Promise.resolve(running),
      isAttached: true,
    },
    { listen: ['0.0.0.0:80'], folder: '/run/x' },
  )
  const apply = async (...objects: readonly HostObject[]): Promise<string[]> => {
    const { verdicts, problem } = await target.apply(routeTable(objects, CONTEXT), SIGNAL)
    const reasons = verdicts.map(
      ({ object, refusal }) => `${object.name} ${refusal?.reason ?? 'ok'}`,
    )
    return problem === undefined ? reasons : [...reasons, problem]
  }
  assert.deepEqual(await apply(route('a', 1), route('b', 1)), ['a ok', 'b ok'])
  answer = 'invalid port'
  assert.deepEqual(await apply(route('a', 1), route('b', 2), route('c', 1), route('d', 1, 'x')), [
    'a ok',
    'b ConfigurationRefused',
    'c ConfigurationRefused',
    'd InvalidValue',
    'the routes before stay in service: invalid port',
  ])
  running = undefined
  assert.deepEqual(await apply(route('b', 2)), ['invalid port'])
  answer = undefined
  assert.deepEqual(await apply(route('a', 1), route('b', 2)), ['a ok', 'b ok'])
})
