/**
 * The `convert` commands, one for each system.
 * @module
 */
import type { CliCommand } from './command.ts'
import type { ConvertSource } from './operators/convert.ts'

/** The commands, in the order of help. */
export const CONVERT_COMMANDS: readonly CliCommand[] = [
  convertFrom('openshift', {
    summary: "convert the DNS operator's object (dnses.operator.openshift.io) of OpenShift 4",
    flags: ['set'],
    examples: [
      'oc get dnses.operator.openshift.io default -o yaml > dns.yaml',
      'kubedoh convert openshift dns.yaml > Corefile',
      'kubedoh convert openshift dns.yaml --set ca.corporate=/etc/pki/corporate.crt',
    ],
    notes: [
      "--set domain=NAME   cluster domain (default: from the object's status)",
      '--set ca.NAME=FILE  path of ca-bundle.crt of ConfigMap openshift-config/NAME',
    ],
  }),
  convertFrom('kube-dns', {
    summary: 'convert the stub domains and upstreams in the ConfigMap of kube-dns',
    flags: ['set'],
    examples: [
      'kubectl -n kube-system get configmap kube-dns -o yaml > kube-dns.yaml',
      'kubedoh convert kube-dns kube-dns.yaml > Corefile',
    ],
    notes: ['--set domain=NAME   cluster domain (default cluster.local)'],
  }),
  convertFrom('nodelocal', {
    summary: 'convert the template or the manifest of NodeLocal DNSCache',
    flags: ['set'],
    examples: [
      'kubectl -n kube-system get service kube-dns kube-dns-upstream -o yaml > services.yaml',
      'kubedoh convert nodelocal nodelocaldns.yaml services.yaml > Corefile',
      'kubedoh convert nodelocal Corefile.base kube-dns.yaml --set cluster-dns=10.96.0.11',
    ],
    notes: [
      'Reads the template and flags from the manifest, stub domains and upstreams from ConfigMap',
      'kube-dns, and addresses from Services. Values for the __PILLAR__ placeholders:',
      '--set dns-domain=NAME        cluster domain (default cluster.local)',
      '--set local-dns=IP           address that pods query (default: -localip, 169.254.20.10)',
      '--set dns-server=IP          address of Service kube-dns, which the node cache takes over',
      '--set cluster-dns=IP         address of Service kube-dns-upstream, the upstream',
      '--set upstream-servers=LIST  upstreams for external names (default /etc/resolv.conf)',
    ],
  }),
  convertFrom('dnsmasq', {
    summary: 'convert the configuration of dnsmasq, also that of OpenShift 3',
    examples: [
      'kubedoh convert dnsmasq /etc/dnsmasq.conf > Corefile',
      'kubedoh convert dnsmasq origin-dns.conf origin-upstream-dns.conf > Corefile',
    ],
    notes: [
      'List all files in the order in which dnsmasq reads them. DHCP and TFTP options are ignored.',
    ],
  }),
  convertFrom('skydns', {
    summary: 'convert the configuration of SkyDNS: its JSON in etcd, its environment or its flags',
    examples: [
      'etcdctl get /skydns/config > skydns.json',
      'kubedoh convert skydns skydns.json > Corefile',
    ],
    notes: ['If several files set the same option, the last file wins.'],
  }),
]

function convertFrom(
  source: ConvertSource,
  about: Pick<CliCommand, 'summary' | 'flags' | 'examples' | 'notes'>,
): CliCommand {
  return {
    ...about,
    name: `convert ${source}`,
    args: ['FILE...'],
    run: async (input, output) =>
      (await import('./operators/convert.ts')).runConvert(source, input, output),
  }
}
