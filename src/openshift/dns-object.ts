/**
 * OpenShift's DNS object (`dnses.operator.openshift.io/default`) → the data of the ConfigMap that
 * the DNS server's Pods mount.
 * @module
 */
import { X509Certificate } from 'node:crypto'
import { causeText, recordOf } from '../bytes/unknown.ts'
import { ConversionError, Settings } from '../convert/conversion.ts'
import { convertOpenshift } from '../convert/openshift.ts'

/** Key of the CA certificates in a ConfigMap of `openshift-config`. */
const BUNDLE_KEY = 'ca-bundle.crt'
/** Largest CA bundle in characters: a ConfigMap holds 1 MiB. */
const BUNDLE_MAX = 262_144
const NO_PLACEMENT = 'spec.nodePlacement has no effect: set it in the DaemonSet of the DNS server'

/** Why there is no Corefile for a DNS object, as the `Degraded` condition says it. */
export type Fault = {
  readonly reason: 'NoDNS' | 'InvalidDNS' | 'InvalidCABundle'
  readonly message: string
}

/** The data of the ConfigMap, and what has no effect on it. */
export type DnsData = {
  readonly data: Readonly<Record<string, string>>
  readonly notices: readonly string[]
}

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
): DnsData | Fault {
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
    const { corefile, notices } = convertOpenshift([converted], new Settings(settings))
    return { data: { Corefile: corefile, ...files }, notices: [...placed, ...notices] }
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error
    return { reason: 'InvalidDNS', message: error.message }
  }
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
