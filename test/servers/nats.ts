// A real NATS server with JetStream for the tests. Its streams are files in its folder, so they are there again after a restart.
import { basename, join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { folderOf } from './programs.ts'
import { startServer, type Place, type TestServer } from './server.ts'

export async function startNats(): Promise<TestServer> {
  return startServer({
    name: 'nats',
    command: join(folderOf('nats'), 'nats-server'),
    haltSignal: 'SIGTERM',
    url: port => `nats://127.0.0.1:${port}`,
    args: natsArgs,
    answers: hasName,
  })
}

const natsArgs = (place: Place): readonly string[] => {
  const address = ['-a', '127.0.0.1', '-p', String(place.port)]
  return [...address, '-n', nameOf(place), '-js', '-sd', join(place.folder, 'store')]
}

const nameOf = ({ folder }: Place): string => basename(folder)

async function hasName(place: Place): Promise<boolean> {
  const connection = await connect({ servers: `127.0.0.1:${place.port}`, reconnect: false, timeout: 60_000 })
  try {
    // The port opens before JetStream has read its streams.
    await jetstreamManager(connection, { timeout: 60_000 })
    return connection.info?.server_name === nameOf(place)
  } finally {
    await connection.close()
  }
}
