# relay.py LISTEN TO: passes bytes on, so that a server sees the user of this process in place of its client's
import socket, sys, threading

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print('ready', flush=True)

def pump(source, target):
    try:
        while data := source.recv(65536): target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError: pass  # the other half has ended

while True:
    client, _ = listener.accept()
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[2])
    for pair in ((client, server), (server, client)): threading.Thread(target=pump, args=pair, daemon=True).start()
