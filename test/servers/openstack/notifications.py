# Prints each of Nova's notifications as it is in RabbitMQ, one JSON text a line, from now on. notifications.py AMQP-URL
import json
import sys
from kombu import Connection, Exchange, Queue

exchange = Exchange('nova', type='topic', durable=False)
queues = [Queue('versioned_notifications.' + level, exchange=exchange, routing_key='versioned_notifications.' + level, durable=False)
          for level in ('info', 'error')]


def tell(body, message):
    print(json.dumps(body if isinstance(body, dict) else json.loads(body)), flush=True)
    message.ack()


with Connection(sys.argv[1]) as connection:
    for queue in queues:
        bound = queue(connection.default_channel)
        bound.declare()
        bound.purge()
    with connection.Consumer(queues, callbacks=[tell], accept=['json']):
        print('{}', flush=True)  # listening
        while True:
            connection.drain_events()
