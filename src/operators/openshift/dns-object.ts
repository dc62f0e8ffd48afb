/**
 * OpenShift's DNS object (`dnses.operator.openshift.io/default`) → the data of the ConfigMap that
 * the DNS server's Pods mount.
 * @module
 */
import { X509Certificate } from 'node:crypto'
import type { Problem } from '../../corefile/problem.ts'
import { causeText, listOf, recordOf } from '../../dns/bytes/unknown.ts'
import { type Conversion, ConversionError, Settings } from '../convert/conversion.ts'
import { convertOpenshift } from '../convert/openshift.ts'

/** Key of the CA certificates in a ConfigMap of `openshift-config`. */
const BUNDLE_KEY = 'ca-bundle.crt'
/** Largest CA bundle in characters: a ConfigMap holds 1 MiB. */
const BUNDLE_MAX = 262_144
const NO_PLACEMENT = 'spec.nodePlacement has no effect: set it in the DaemonSet of the DNS server'

/** Broken servers that are left out one by one; with more, all are. */
const BROKEN_MAX = 16
/** Names an entry of `spec.servers` in messages. */
const SERVER = /^spec\.servers\[(\d+)\]/

/** Why there is no Corefile for a DNS object, as the `Degraded` condition says it. */
export type Fault = {
  readonly reason: 'NoDNS' | 'InvalidDNS' | 'InvalidCABundle'
  readonly message: string
}

/** The data of the ConfigMap, and what has no effect on it. */
export type DnsData = {
  readonly data: Readonly<Record<string, string>>
  readonly notices: readonly string[]
  /** Why it lacks a part of the DNS object. */
  readonly fault?: Fault
}

/** Returns the errors of the Corefile in a ConfigMap's data; other keys are files beside it. */
export type DataCheck = (data: Readonly<Record<string, string>>) => Promise<readonly Problem[]>

/** What the operator needs to know of a DNS object besides its Corefile. */
export type DnsManagement = {
  /** False for `managementState: Unmanaged`: nothing is written. */
  readonly isManaged: boolean
  /** Whether `operatorLogLevel` wants every change logged. */
  readonly isVerbose: boolean
}

/**
 * Returns the Corefile of a DNS object and a file `ca-NAME.crt` for each CA bundle that it names,
 * or why there is none.
 * @param dns the object of unknown shape; `undefined` if there is none
 * @param bundles the data of the ConfigMaps in `openshift-config` by name
 */
export function dnsDataOf(
  dns: unknown,
  bundles: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
): (DnsData & Pick<Conversion, 'fieldAt'>) | Fault {
  if (dns === undefined) {
    return { reason: 'NoDNS', message: 'there is no dnses.operator.openshift.io "default"' }
  }
  const files: Record<string, string> = {}
  const settings: string[] = []
  for (const name of bundleNamesOf(dns)) {
    const text = bundles.get(name)?.[BUNDLE_KEY]
    const problem = bundleProblem(text)
    if (typeof text !== 'string' || problem !== undefined) {
      const message = `ConfigMap openshift-config/${name}, key ${BUNDLE_KEY}: ${problem}`
      return { reason: 'InvalidCABundle', message }
    }
    files[`ca-${name}.crt`] = text
    settings.push(`ca.${name}=ca-${name}.crt`)
  }
  const { managementState, operatorLogLevel, nodePlacement, ...spec } = specOf(dns)
  const placed = Object.keys(recordOf(nodePlacement)).length > 0 ? [NO_PLACEMENT] : []
  try {
    const converted = { ...recordOf(dns), spec }
    const { corefile, notices, fieldAt } = convertOpenshift([converted], new Settings(settings))
    return { data: { Corefile: corefile, ...files }, notices: [...placed, ...notices], fieldAt }
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error
    return { reason: 'InvalidDNS', message: error.message }
  }
}

/**
 * Returns the data for a DNS object without the parts with which no server would start, and a fault
 * that names them; a fault alone if there is nothing to start with. Never weakens TLS: where that
 * is the broken part, there is no data.
 */
export async function loadableDataOf(
  dns: unknown,
  bundles: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  check: DataCheck,
): Promise<DnsData | Fault> {
  const whole = await dataOrFault(dns, bundles, check)
  if (!('reason' in whole) || whole.reason !== 'InvalidDNS') return whole
  const faults: string[] = []
  let { message } = whole
  const { servers, upstreamResolvers, ...rest } = specOf(dns)
  let left = listOf(servers).map((server, index) => ({ server, index }))
  for (;;) {
    const broken = Number(SERVER.exec(message)?.[1] ?? left.length)
    faults.push(message.replace(SERVER, () => `spec.servers[${left[broken]?.index}]`))
    if (broken >= left.length) break
    left = faults.length > BROKEN_MAX ? [] : left.filter((_, i) => i !== broken)
    const spec = { ...rest, upstreamResolvers, servers: left.map(({ server }) => server) }
    const fewer = await dataOrFault({ ...recordOf(dns), spec }, bundles, check)
    const fault: Fault = { reason: 'InvalidDNS', message: `left out: ${faults.join('; ')}` }
    if (!('reason' in fewer)) return { ...fewer, fault }
    message = fewer.message
  }
  return whole
}

async function dataOrFault(
  dns: unknown,
  bundles: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  check: DataCheck,
): Promise<DnsData | Fault> {
  const outcome = dnsDataOf(dns, bundles)
  if ('reason' in outcome) return outcome
  const { fieldAt, ...data } = outcome
  const [problem] = await check(data.data)
  if (problem === undefined) return data
  const field = fieldAt(problem.line)
  const message = `${field === undefined ? '' : `${field}: `}${problem.message}`
  return { reason: 'InvalidDNS', message }
}

/** Reads how a DNS object is managed. */
export function managementOf(dns: unknown): DnsManagement {
  const { managementState, operatorLogLevel } = specOf(dns)
  return {
    isManaged: managementState !== 'Unmanaged',
    isVerbose: operatorLogLevel === 'Debug' || operatorLogLevel === 'Trace',
  }
}

/** Returns the names of the ConfigMaps with CA bundles; the conversion checks all other fields. */
function bundleNamesOf(dns: unknown): string[] {
  const spec = specOf(dns)
  const servers = Array.isArray(spec.servers) ? spec.servers : []
  const forwards = servers.map((server: unknown) => recordOf(server).forwardPlugin)
  const names = [...forwards, spec.upstreamResolvers].flatMap((forward) => {
    const { transport, tls } = recordOf(recordOf(forward).transportConfig)
    const { name } = recordOf(recordOf(tls).caBundle)
    return transport === 'TLS' && typeof name === 'string' && name !== '' ? [name] : []
  })
  return [...new Set(names)].sort()
}

function specOf(dns: unknown): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(dns).spec)
}

function bundleProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'missing'
  if (text.length > BUNDLE_MAX) return `longer than ${BUNDLE_MAX} characters`
  try {
    new X509Certificate(text)
    return undefined
  } catch (error) {
    return `not a certificate in PEM: ${causeText(error)}`
  }
}
