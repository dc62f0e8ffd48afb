// Requests a URL whose host the gateway resolves: node node.mjs http://NAME/
import { get } from 'node:http'

async function addressesOf(name) {
  const query = new URL(`/resolve?name=${encodeURIComponent(name)}&type=A`, '${origin}')
  const headers = { authorization: `Bearer ${process.env.KUBEDOH_CLIENT_TOKEN}` }
  const response = await fetch(query, { headers })
  if (!response.ok) throw new Error(`HTTP ${response.status} of the gateway`)
  const { Answer = [] } = await response.json()
  return Answer.filter(({ type }) => type === 1).map(({ data }) => ({ address: data, family: 4 }))
}

/** In place of dns.lookup, for http.get, https.get and net.connect. */
function lookup(hostname, { all }, callback) {
  addressesOf(hostname).then((found) => {
    const [first] = found
    if (first === undefined) callback(new Error(`${hostname} has no address`))
    else if (all) callback(null, found)
    else callback(null, first.address, first.family)
  }, callback)
}

get(process.argv[2], { lookup }, (response) => response.pipe(process.stdout))
