/**
 * The Wyoming port of a running server: its address, the account that pays, and whether it is announced on the network.
 */
import { version } from '../../../package.json' with { type: 'json' }
import type { Config } from '../../config.ts'
import { hashSecret } from '../../domain/account.ts'
import { HouseAccount } from '../../service/house-account.ts'
import { startWyoming, type WyomingServer } from '../../wyoming/server.ts'
import { announce, reachableAddresses } from '../../wyoming/zeroconf.ts'
import { Failure } from '../terminal/terminal.ts'
import { addressOf } from './address.ts'
import type { Books, Service, World } from './wiring.ts'

/** Opens the Wyoming port. @returns null when it is off @throws Failure when the port is unavailable */
export async function openWyoming(
  config: Config,
  world: World,
  { accounts }: Books,
  { administration, report, ...service }: Service,
): Promise<WyomingServer | null> {
  if (config.wyoming === '') return null
  const { host, port } = addressOf(config.wyoming, '127.0.0.1')
  const label = { name: config.wyomingAccount, label: 'wyoming' }
  const account = await HouseAccount.open(accounts, administration, label)
  const log = (fields: Record<string, unknown>) => world.log.debug('wyoming', fields)
  const parts = { ...world, ...service, version, account, report, log, maxInputChars: config.maxInputChars }
  let server: WyomingServer
  try {
    server = await startWyoming(parts, { host, port })
  } catch (cause) {
    throw new Failure(`Wyoming cannot listen on ${host}:${port}: ${(cause as Error).message}`, 'cannot_listen')
  }
  if (!config.wyomingAnnounce || reachableAddresses(host).length === 0) return server
  // Home Assistant knows a server by its name: it must be the same after a restart.
  const name = `myna-${hashSecret((await account.caller()).key.id).slice(0, 8)}`
  const announcement = announce({
    name,
    port: server.port,
    addresses: () => reachableAddresses(host),
    clock: world.clock,
    timer: world.timer,
    report,
  })
  const stop = async () => {
    await announcement.stop()
    await server.stop()
  }
  return { ...server, stop }
}
