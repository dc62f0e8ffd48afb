import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { API_DEFAULTS, type ApiOptions } from '../../src/corefile/api-options.ts'
import { parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { directiveOf, problemsOf } from './source.ts'

function parse(text: string): ApiOptions & { readonly notices: readonly string[] } {
  const directive = directiveOf(`kubernetes {\n${text}\n}`)
  const parsed = parseKubernetes(directive, [nameOf('cluster.local')])
  const { kubeconfig, endpoint, tls, startupMs, apiLimits, notices } = parsed
  const told = notices.map(({ message }) => message)
  return { kubeconfig, endpoint, tls, startupMs, apiLimits, notices: told }
}

describe('the connection to an API server', () => {
  const limits = API_DEFAULTS.apiLimits
  const cases: { text: string; changes: Partial<ReturnType<typeof parse>> }[] = [
    { text: '', changes: {} },
    { text: 'startup_timeout 1m30s', changes: { startupMs: 90_000 } },
    {
      text: 'startup_timeout 2s 3s',
      changes: {
        startupMs: 2000,
        notices: ['"startup_timeout" takes one argument; "3s" is ignored'],
      },
    },
    { text: 'apiserver_qps 2.5', changes: { apiLimits: { ...limits, requestsPerSecond: 2.5 } } },
    { text: 'apiserver_qps 0', changes: {} },
    { text: 'apiserver_qps 1e2', changes: { apiLimits: { ...limits, requestsPerSecond: 100 } } },
    {
      text: 'apiserver_burst 20\napiserver_max_inflight 3',
      changes: { apiLimits: { ...limits, burst: 20, inFlightMax: 3 } },
    },
    {
      text: 'endpoint https://a https://b',
      changes: {
        endpoint: 'https://a',
        notices: ['"endpoint" takes one argument; "https://b" is ignored'],
      },
    },
    {
      text: 'endpoint https://a\nkubeconfig /b',
      changes: {
        endpoint: 'https://a',
        kubeconfig: { path: '/b', context: undefined },
        notices: ['"endpoint" is ignored because "kubeconfig" is set'],
      },
    },
  ]
  for (const { text, changes } of cases) {
    test(JSON.stringify(text), () => {
      assert.deepEqual(parse(text), { ...API_DEFAULTS, notices: [], ...changes })
    })
  }
})

describe('an invalid connection to an API server', () => {
  const cases: { text: string; problem: string }[] = [
    {
      text: 'startup_timeout',
      problem: '3:1: "startup_timeout" takes 1 or more argument(s), got 0',
    },
    {
      text: 'startup_timeout 0s',
      problem: '3:17: "0s" is not a time over 0 and up to 24h',
    },
    {
      text: 'startup_timeout 25h',
      problem: '3:17: "25h" is not a time over 0 and up to 24h',
    },
    {
      text: 'startup_timeout soon',
      problem: '3:17: "soon" is not a duration such as 30s, 1m30s or 500ms',
    },
    { text: 'apiserver_qps', problem: '3:1: "apiserver_qps" takes 1 argument(s), got 0' },
    { text: 'apiserver_qps 1 2', problem: '3:1: "apiserver_qps" takes 1 argument(s), got 2' },
    { text: 'apiserver_qps -1', problem: '3:15: "-1" is not a number from 0 to 1000000' },
    { text: 'apiserver_qps fast', problem: '3:15: "fast" is not a number from 0 to 1000000' },
    { text: 'apiserver_burst 1.5', problem: '3:17: "1.5" is not a number from 0 to 1000000' },
    {
      text: 'apiserver_max_inflight -3',
      problem: '3:24: "-3" is not a number from 0 to 1000000',
    },
  ]
  for (const { text, problem } of cases) {
    test(JSON.stringify(text), () => {
      assert.deepEqual(
        problemsOf(() => parse(text)),
        [problem],
      )
    })
  }
})
