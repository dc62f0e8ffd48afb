/**
 * `kubedoh openshift`: keeps the Corefile of OpenShift's DNS object in a ConfigMap.
 * @module
 */
import { sleep } from '../../cluster/api/backoff.ts'
import { measuredApi } from '../../cluster/api/measured-api.ts'
import type { ApiConnection } from '../../cluster/api/object-api.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import type { ConfigMapName } from '../../operators/openshift/config-map.ts'
import { DnsOperator } from '../../operators/openshift/dns-operator.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { announce, CommandError, createLog, type Output } from '../../server/node/output.ts'
import { untilSignal } from '../../server/node/signals.ts'
import { listenStatus } from '../export/export-status.ts'
import type { Input } from '../flags/flags.ts'

/** Interval of the checks whether the ConfigMap is up to date, for the ready line. */
const POLL_MS = 50

/** Runs the command until SIGINT or SIGTERM. */
export async function runOpenshift(input: Input, output: Output): Promise<void> {
  const configMap = parseConfigMap(input.text('configmap'))
  const { openApi } = await import('../../cluster/follow/watch.ts')
  const log = createLog(output)
  const metrics = new Metrics()
  const operator = new DnsOperator({
    api: measuredApi(openApi(connectionOf(input.text('kubeconfig'))), metrics, elapsed),
    configMap,
    check: async (files) => {
      const { problemsElsewhere } = await import('../serve/check.ts')
      const generated = { text: files.Corefile ?? '', path: 'Corefile', files }
      return (await problemsElsewhere(generated)).problems
    },
    metrics,
    onInfo: (message) => log({ level: 'info', message }),
    onWarning: (message) => log({ level: 'warning', message }),
    onError: (message) => log({ level: 'error', message }),
    sleep,
    random: Math.random,
    now: Date.now,
    elapsed,
  })
  const status = await listenStatus(input.text('listen'), {
    metrics,
    isReady: () => operator.isReady,
    notReady: () => describeConditions(operator),
  })
  const ended = new AbortController()
  const running = operator.run(ended.signal)
  const signal = untilSignal().finally(() => ended.abort())
  while (!operator.isReady && !ended.signal.aborted) await sleep(POLL_MS, ended.signal)
  const { namespace, name } = configMap
  if (!ended.signal.aborted) {
    announce(output, `ready: ConfigMap ${namespace}/${name} has the Corefile`)
  }
  await signal
  await running
  await status?.close()
}

function describeConditions({ conditions }: DnsOperator): string {
  if (conditions.length === 0) return 'the cluster is not read yet\n'
  return conditions
    .map(({ type, status, reason, message }) =>
      `${type}=${status} ${reason} ${message}`.trimEnd().concat('\n'),
    )
    .join('')
}

function connectionOf(path: string): ApiConnection {
  return path === '' ? { kind: 'default' } : { kind: 'kubeconfig', path, context: undefined }
}

function parseConfigMap(text: string): ConfigMapName {
  const [, namespace, name] = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,240})$/.exec(text) ?? []
  if (namespace !== undefined && name !== undefined) return { namespace, name }
  throw new CommandError(`--configmap is "${text}", expected NAMESPACE/NAME`)
}
