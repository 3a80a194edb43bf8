# All nova daemons come from one launcher: it imports nova once (4-5 s of CPU) while the other services start, then forks a child for each
# daemon that it is asked for (own session, own log, own pid file), the first ones and those that are restarted later. The children share
# the code's memory, and a restart takes no import.
# usage: nova-launcher.py RUNDIR LOGDIR NOVA-CONF; then a line NAME=MODULE=CONF[,CONF...] for each daemon into RUNDIR/launcher.fifo
import gc, importlib, os, signal, sys
import eventlet.hubs
import nova.cmd                                        # eventlet monkey patching first
run, log, conf = sys.argv[1:]
mods = {m: importlib.import_module(m) for m in ('nova.cmd.api_os_compute', 'nova.cmd.conductor', 'nova.cmd.scheduler', 'nova.cmd.compute')}
# The managers' @periodic_task decorators read their intervals from the configuration when the module is
# imported, so the configuration must be parsed before (the children parse it again with their own files).
from nova import config
config.parse_args(['nova-launcher', '--config-file', conf], configure_db=False, init_rpc=False)
for m in ('nova.objects', 'nova.compute.manager', 'nova.conductor.manager', 'nova.scheduler.manager', 'nova.virt.fake',
          'nova.api.openstack.compute.routes', 'pymysql', 'oslo_messaging._drivers.impl_rabbit', 'keystonemiddleware.auth_token'):
    importlib.import_module(m)
if os.environ.get('OSL_FAST') == '1':
    # Nova's resource tracker (Zed; still so in nova 31) GETs the allocations of every instance on the host, one
    # by one, at each claim and each audit: n boots cost O(n^2) placement requests (measured: 3 800 per minute,
    # placement saturated, from 100 servers on). The result is only used for reshapes and PCI-in-placement, neither
    # of which a fake hypervisor has.
    from nova.scheduler.client import report
    report.SchedulerReportClient.get_allocations_for_provider_tree = lambda self, context, nodename: {}
    # Debian 13 only: oslo.messaging 16 polls for an RPC reply every 0.5 s, which makes a boot take 6 s instead of 1
    import inspect, time, types
    from oslo_messaging._drivers import amqpdriver
    if 'time.sleep(0.5)' in inspect.getsource(amqpdriver.ReplyWaiters.get):
        amqpdriver.time = types.SimpleNamespace(**vars(time)); amqpdriver.time.sleep = lambda s: time.sleep(min(s, 0.02))
# Four refinements of nova.virt.fake (the driver keeps its guests only in memory):
#  - a restarted nova-compute gets its guests back (resume_guests_state_on_host_boot), else they show power_state 0;
#  - FakeLiveMigrateDriver keeps ONE abort/complete flag per host: made per guest, so that many can move at once;
#  - live migration from a host can be made slower or failing by writing STATE_PATH/live-migration
#    ("0.5", "60" = seconds; "fail", "fail 3" = fails at once / after 3 s); absent: 5 s. STATE_PATH/live-migration-UUID is for one guest;
#  - a guest's console shows its name as a login prompt does, a second after the guest was started: else every console says the same for ever.
import time
from nova.virt import fake
def resume_state_on_host_boot(self, context, instance, network_info, block_device_info=None):
    if instance.uuid not in self.instances: self.spawn(context, instance, None, None, None, None)
fake.FakeDriver.resume_state_on_host_boot = resume_state_on_host_boot
def get_console_output(self, context, instance):
    booted = instance.launched_at is not None and time.time() - instance.launched_at.timestamp() > 1
    return 'FAKE CONSOLE OUTPUT\n' + (instance.display_name + ' login:\nLAST LINE' if booted else 'BOOTING')
fake.FakeDriver.get_console_output = get_console_output
def live_migration(self, context, instance, dest, post_method, recover_method, block_migration=False, migrate_data=None):
    words = []
    for file in ('/live-migration-' + instance.uuid, '/live-migration'):
        try: words = open(config.CONF.state_path + file).read().split(); break
        except OSError: pass
    fail = words[:1] == ['fail']; rest = words[1:] if fail else words
    end = time.time() + (float(rest[0]) if rest else 0 if fail else 5)
    moves = self.__dict__.setdefault('_osl_moves', {}); moves[instance.uuid] = 'running'
    while time.time() < end and moves[instance.uuid] == 'running': time.sleep(0.1)
    state = moves.pop(instance.uuid)
    if state == 'abort': recover_method(context, instance, dest, migrate_data, migration_status='cancelled')
    elif state == 'running' and fail: recover_method(context, instance, dest, migrate_data)
    else: post_method(context, instance, dest, block_migration, migrate_data)
def mark(what):
    def f(self, instance):
        moves = self.__dict__.setdefault('_osl_moves', {})
        if instance.uuid in moves: moves[instance.uuid] = what
    return f
fake.FakeLiveMigrateDriver.live_migration = live_migration
fake.FakeLiveMigrateDriver.live_migration_abort = mark('abort')
fake.FakeLiveMigrateDriver.live_migration_force_complete = mark('complete')
gc.collect(); gc.freeze()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children: they leave no zombies
asked = os.fdopen(os.open(f'{run}/launcher.fifo', os.O_RDWR))  # for writing too: it does not end when a caller is done
for line in iter(asked.readline, ''):
    if os.fork(): continue
    name, mod, confs = line.strip().split('=')
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.close(asked.fileno())
    fd = os.open(f'{log}/{name}.log', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0); os.dup2(fd, 1); os.dup2(fd, 2); os.close(fd)
    start = open('/proc/self/stat').read().rsplit(') ', 1)[1].split()[19]
    with open(f'{run}/{name}.new', 'w') as f: f.write(f'{os.getpid()} {start}\n')
    os.rename(f'{run}/{name}.new', f'{run}/{name}.pid')
    sys.argv = [name] + [x for c in confs.split(',') for x in ('--config-file', c)]
    eventlet.hubs.use_hub()          # else all children would share one epoll descriptor and spin
    config.CONF.clear()
    code = 1
    try: code = mods[mod].main() or 0
    except SystemExit as e: code = e.code if isinstance(e.code, int) else 1
    except BaseException:
        import traceback; traceback.print_exc()
    finally: sys.stdout.flush(); sys.stderr.flush(); os._exit(code)
