import { expect, test } from 'bun:test'
import { loadConfig } from '../../config.ts'
import { Listener } from './listener.ts'

const none = { listen: () => {}, server: null }
const listen = (host: string) => () => new Listener(none, loadConfig({ host, port: 0 }, {}))

test('an address that cannot be listened on is refused with what to give instead', () => {
  // TEST-NET-1: no machine has it.
  expect(listen('192.0.2.1')).toThrow('this machine has no such address; 0.0.0.0 stands for all that it has')
  expect(listen('localhost:80')).toThrow('this name is unknown; give --host an address or a name, and the port with')
})
