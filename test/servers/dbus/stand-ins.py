# systemd1, login1 and hostname1 as far as the agent uses them, PolicyKit1 as far as libvirtd does, on the bus of DBUS_SYSTEM_BUS_ADDRESS. They behave: units have states and
# tell of changes, jobs end, a delay lock is a real file descriptor and holds back a shutdown until it is closed or the time is up.
# Commands come on standard input, one JSON array a line; each is answered by one line.
import json, os, sys, time
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
names = [dbus.service.BusName(f'org.freedesktop.{name}', bus) for name in ('systemd1', 'login1', 'hostname1', 'PolicyKit1')]
MANAGER, UNIT, PROPERTIES = 'org.freedesktop.systemd1.Manager', 'org.freedesktop.systemd1.Unit', 'org.freedesktop.DBus.Properties'
units, results, started, inhibitors, asked = {}, {}, [], {}, []
state = {'subscribed': False, 'jobs': 0, 'delay': 5_000_000, 'down': None, 'polkit': True}

def path_of(name):
    return '/org/freedesktop/systemd1/unit/' + ''.join(c if c.isalnum() else f'_{ord(c):02x}' for c in name)

class Unit(dbus.service.Object):
    @dbus.service.signal(PROPERTIES, signature='sa{sv}as')
    def PropertiesChanged(self, interface, changed, invalidated): pass

class Systemd(dbus.service.Object):
    @dbus.service.method(MANAGER)
    def Subscribe(self): state['subscribed'] = True

    @dbus.service.method(MANAGER, in_signature='as', out_signature='a(ssssssouso)')
    def ListUnitsByNames(self, wanted):
        row = lambda name, load, active: (name, name, load, active, active, '', path_of(name), 0, '', '/')
        return [row(name, 'loaded', units[name]['active']) if name in units else row(name, 'not-found', 'inactive') for name in wanted]

    @dbus.service.method(MANAGER, in_signature='ss', out_signature='o')
    def StartUnit(self, name, mode):
        result = results.get(str(name), 'done')
        if result == 'missing': raise dbus.DBusException(f'Unit {name} not found.', name='org.freedesktop.systemd1.NoSuchUnit')
        state['jobs'] += 1
        job = dbus.ObjectPath(f'/org/freedesktop/systemd1/job/{state["jobs"]}')
        started.append(str(name))
        if result != 'never': GLib.timeout_add(20, self.ended, state['jobs'], job, str(name), result)
        return job

    # `crashes`: the start succeeds, and then the program fails
    def ended(self, id, job, name, result):
        if result == 'crashes': unit(name, 'failed')
        self.JobRemoved(id, job, name, 'done' if result == 'crashes' else result)
        return False

    @dbus.service.signal(MANAGER, signature='uoss')
    def JobRemoved(self, id, job, unit, result): pass

class Login(dbus.service.Object):
    I = 'org.freedesktop.login1.Manager'

    @dbus.service.method(I, in_signature='ssss', out_signature='h')
    def Inhibit(self, what, who, why, mode):
        ours, theirs = os.pipe()
        inhibitors[ours] = {'what': str(what), 'who': str(who), 'why': str(why), 'mode': str(mode)}
        GLib.io_add_watch(ours, GLib.IO_HUP, self.closed)
        fd = dbus.types.UnixFd(theirs)
        os.close(theirs)
        return fd

    def closed(self, fd, condition):
        inhibitors.pop(fd, None)
        os.close(fd)
        self.maybe_down()
        return False

    def maybe_down(self):
        if state['down'] == 'coming' and not inhibitors: state['down'] = time.monotonic() - state['asked']

    @dbus.service.method(PROPERTIES, in_signature='ss', out_signature='v')
    def Get(self, interface, name): return dbus.UInt64(state['delay'])

    @dbus.service.signal(I, signature='b')
    def PrepareForShutdown(self, coming): pass

class Hostname(dbus.service.Object):
    @dbus.service.method('org.freedesktop.hostname1', out_signature='s')
    def Describe(self):
        return json.dumps({'Hostname': 'h', 'KernelName': 'Linux', 'KernelRelease': '6.6.6-cloud', 'KernelVersion': '#1 SMP', 'HardwareVendor': 'ACME',
                           'HardwareModel': 'Box 9', 'HardwareSerial': None, 'FirmwareVersion': '1.2', 'FirmwareVendor': 'Firm', 'FirmwareDate': 1700000000000000})

class Polkit(dbus.service.Object):
    @dbus.service.method('org.freedesktop.PolicyKit1.Authority', in_signature='(sa{sv})sa{ss}us', out_signature='(bba{ss})')
    def CheckAuthorization(self, subject, action, details, flags, cancellation):
        asked.append({'action': str(action), 'uid': int(subject[1].get('uid', -1))})
        return state['polkit'], False, dbus.Dictionary({}, signature='ss')

polkit = Polkit(bus, '/org/freedesktop/PolicyKit1/Authority')
systemd, login, hostname = Systemd(bus, '/org/freedesktop/systemd1'), Login(bus, '/org/freedesktop/login1'), Hostname(bus, '/org/freedesktop/hostname1')

def unit(name, active):
    fresh = name not in units
    units.setdefault(name, {'object': Unit(bus, path_of(name))} if fresh else {})['active'] = active
    if state['subscribed']: units[name]['object'].PropertiesChanged(UNIT, {'ActiveState': active}, [])

def too_long(asked):
    if state['down'] == 'coming' and state['asked'] == asked: state['down'] = 'forced'
    return False

def shutdown(coming):
    state['asked'], state['down'] = time.monotonic(), 'coming' if coming else None
    login.PrepareForShutdown(coming)
    if coming:
        GLib.timeout_add(state['delay'] // 1000, too_long, state['asked'])
        login.maybe_down()

def command(source, condition):
    line = sys.stdin.readline()
    if line == '': os._exit(0)
    do, *args = json.loads(line)
    answer = None
    if do == 'unit': unit(*args)
    elif do == 'result': results[args[0]] = args[1]
    elif do == 'delay': state['delay'] = args[0] * 1000
    elif do == 'shutdown': shutdown(args[0])
    elif do == 'polkit': state['polkit'] = args[0]
    elif do == 'state': answer = {'started': started, 'inhibitors': list(inhibitors.values()), 'down': state['down'], 'asked': asked}
    print(json.dumps(answer), flush=True)
    return True

GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, command)
print('"ready"', flush=True)
GLib.MainLoop().run()
