# The same work as consumer.ts, with the Python library of Open vSwitch.
import sys, time
import ovs.db.idl, ovs.poller

remote, schema, columns, rows, updates = sys.argv[1], sys.argv[2], sys.argv[3].split(','), int(sys.argv[4]), int(sys.argv[5])
changed = 0

class Consumer(ovs.db.idl.Idl):
    def notify(self, event, row, before=None):
        global changed
        if event == ovs.db.idl.ROW_UPDATE:
            changed += 1

def run_until(idl, done):
    start = time.process_time()
    while not done():
        idl.run()
        if done():
            break
        poller = ovs.poller.Poller()
        idl.wait(poller)
        poller.block()
    return (time.process_time() - start) * 1000

helper = ovs.db.idl.SchemaHelper(location=schema)
helper.register_columns('Item', columns)
idl = Consumer(remote, helper)
print(run_until(idl, lambda: len(idl.tables['Item'].rows) == rows), flush=True)
print(run_until(idl, lambda: changed >= updates), flush=True)
