/**
 * The commands that convert other systems' configuration, one a system.
 * @module
 */
import type { Command } from './commands.ts'
import type { ConvertSource } from './convert.ts'

/** The commands, in the order of help. */
export const CONVERT_COMMANDS: readonly Command[] = [
  convertFrom('openshift', {
    summary: "the DNS operator's object (dnses.operator.openshift.io) of OpenShift 4",
    flags: ['set'],
    examples: [
      'oc get dnses.operator.openshift.io default -o yaml > dns.yaml',
      'kubedoh convert openshift dns.yaml > Corefile',
      'kubedoh convert openshift dns.yaml --set ca.corporate=/etc/pki/corporate.crt',
    ],
    notes: [
      '--set domain=NAME   the domain of the cluster, in place of that in the status',
      '--set ca.NAME=FILE  where ca-bundle.crt of ConfigMap openshift-config/NAME is',
    ],
  }),
  convertFrom('kube-dns', {
    summary: 'stub domains and upstreams of the ConfigMap of kube-dns',
    flags: ['set'],
    examples: [
      'kubectl -n kube-system get configmap kube-dns -o yaml > kube-dns.yaml',
      'kubedoh convert kube-dns kube-dns.yaml > Corefile',
    ],
    notes: ['--set domain=NAME   the domain of the cluster (cluster.local)'],
  }),
  convertFrom('nodelocal', {
    summary: "NodeLocal DNSCache's template or manifest, with what node-cache puts in",
    flags: ['set'],
    examples: [
      'kubectl -n kube-system get service kube-dns kube-dns-upstream -o yaml > services.yaml',
      'kubedoh convert nodelocal nodelocaldns.yaml services.yaml > Corefile',
      'kubedoh convert nodelocal Corefile.base kube-dns.yaml --set cluster-dns=10.96.0.11',
    ],
    notes: [
      'Template and flags come of the manifest, stub domains and upstreams of ConfigMap kube-dns,',
      'addresses of Services. In the places of __PILLAR__ words are put:',
      '--set dns-domain=NAME        the domain of the cluster (cluster.local)',
      '--set local-dns=IP           where pods of the node ask (-localip, 169.254.20.10)',
      '--set dns-server=IP          the address of Service kube-dns, to answer in its place',
      '--set cluster-dns=IP         the address of Service kube-dns-upstream, to ask',
      '--set upstream-servers=LIST  whom to ask for names outside (/etc/resolv.conf)',
    ],
  }),
  convertFrom('dnsmasq', {
    summary: "dnsmasq's configuration, that of OpenShift 3 among it",
    flags: [],
    examples: [
      'kubedoh convert dnsmasq /etc/dnsmasq.conf > Corefile',
      'kubedoh convert dnsmasq origin-dns.conf origin-upstream-dns.conf > Corefile',
    ],
    notes: [
      'Name all files that count, in the order in which dnsmasq reads them. What is about DHCP and',
      'TFTP is left out.',
    ],
  }),
  convertFrom('skydns', {
    summary: "SkyDNS's configuration: its JSON in etcd, its environment, or its flags",
    flags: [],
    examples: [
      'etcdctl get /skydns/config > skydns.json',
      'kubedoh convert skydns skydns.json > Corefile',
    ],
    notes: ['Of what several files say, the last counts.'],
  }),
]

function convertFrom(
  source: ConvertSource,
  about: Pick<Command, 'summary' | 'flags' | 'examples' | 'notes'>,
): Command {
  return {
    ...about,
    name: `convert ${source}`,
    args: ['FILE...'],
    required: [],
    run: async (input, output) => (await import('./convert.ts')).runConvert(source, input, output),
  }
}
