/**
 * The lines that the node resolver keeps in `/etc/hosts`, one for each address of a Service, as
 * OpenShift's node-resolver writes them (github.com/openshift/cluster-dns-operator,
 * pkg/manifests/assets/node-resolver/update-node-resolver.sh).
 * @module
 */

/** Ends each line of ours and of OpenShift's node-resolver: either can replace the other. */
export const MARKER = '# openshift-generated-node-resolver'

/** Addresses by Service, without the domain; `undefined` if they cannot be looked up now. */
export type ServiceAddresses = ReadonlyMap<string, readonly string[] | undefined>

/**
 * Replaces our lines in the text of a hosts file. Keeps the lines of Services whose addresses are
 * `undefined`, and each foreign line as it is; ours follow the foreign ones. Returns the same text
 * when it is applied again.
 */
export function mergeHosts(text: string, services: ServiceAddresses, domain: string): string {
  const lines = text.split(/(?<=\n)/)
  const foreign = lines.filter((line) => !isOurs(line)).join('')
  const ours = [...services].flatMap(([service, addresses]) =>
    addresses === undefined
      ? lines.filter((line) => isOurs(line) && line.split(/\s+/)[1] === service)
      : addresses.map((address) => `${address} ${service} ${service}.${domain} ${MARKER}`),
  )
  const isOpen = ours.length > 0 && foreign !== '' && !foreign.endsWith('\n')
  return `${foreign}${isOpen ? '\n' : ''}${ours.map((line) => `${line.trimEnd()}\n`).join('')}`
}

/** Returns the number of lines of ours in a hosts file. */
export function countEntries(text: string): number {
  return text.split('\n').filter(isOurs).length
}

function isOurs(line: string): boolean {
  return line.trimEnd().endsWith(MARKER)
}
