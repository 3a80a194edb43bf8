# Configuration files of the services, written for the ports of one run. Sourced by openstack.sh.
# shellcheck shell=bash disable=SC2154

authtoken() { cat <<X
[keystone_authtoken]
www_authenticate_uri = http://$IP:$KEYSTONE_PORT
$(creds "$1")
service_token_roles = service
service_token_roles_required = true
# no memcached: every WSGI process keeps validated tokens in memory
token_cache_time = 300
X
}

creds() { cat <<X
auth_type = password
auth_url = $AUTH_URL
username = $1
password = $PASSWORD
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
X
}

keystone_conf() { cat <<X
[DEFAULT]
use_stderr = true
[database]
connection = $DB_URL/keystone
[token]
provider = fernet
expiration = 86400
[fernet_tokens]
key_repository = $ETC/keystone/fernet-keys
[credential]
key_repository = $ETC/keystone/credential-keys
[identity]
# bcrypt's default of 12 costs 0.3 s of CPU for each password login
password_hash_rounds = 4
[cache]
enabled = true
backend = dogpile.cache.memory
X
}

placement_conf() { cat <<X
[DEFAULT]
use_stderr = true
[api]
auth_strategy = keystone
[placement_database]
connection = $DB_URL/placement
$(authtoken placement)
X
}

nova_conf() { cat <<X
[DEFAULT]
use_stderr = true
my_ip = $IP
state_path = $OSL_DIR/nova
transport_url = $AMQP_URL
enabled_apis = osapi_compute
osapi_compute_listen = $IP
osapi_compute_listen_port = $NOVA_PORT
osapi_compute_workers = 1
compute_driver = fake.FakeLiveMigrateDriver
# fast liveness for tests (defaults 10 / 60): a killed nova-compute is "down" after 12 s
report_interval = 3
service_down_time = 12
# periodic tasks (host discovery, inventory refresh) start at once instead of after a random 0-60 s
periodic_fuzzy_delay = 0
# live migrations at a time for each source host (default 1; 0 = unlimited)
max_concurrent_live_migrations = 0
max_concurrent_builds = 0
# guests come back when nova-compute is restarted (see nova-launcher.py)
resume_guests_state_on_host_boot = true
# a shelved server stays on its host until somebody offloads it
shelved_offload_time = -1
rpc_response_timeout = 60
[wsgi]
api_paste_config = $HERE/nova-api-paste.ini
[conductor]
workers = 1
[scheduler]
workers = 1
# new nova-compute hosts are mapped into the cell by themselves
discover_hosts_in_cells_interval = 2
[filter_scheduler]
# The scheduler sees a burst of single boots before the computes report usage, and would put them all on the first of three equal
# hosts: choose at random among the best three instead. For exact placement boot with "host".
weight_classes = nova.scheduler.weights.ram.RAMWeigher
shuffle_best_same_weighed_hosts = true
host_subset_size = 3
[quota]
instances = -1
cores = -1
ram = -1
server_groups = -1
server_group_members = -1
[glance]
valid_interfaces = public
region_name = RegionOne
[neutron]
valid_interfaces = public
$(creds neutron)
[placement]
valid_interfaces = public
$(creds placement)
[service_user]
send_service_user_token = true
$(creds nova)
[vnc]
enabled = false
[oslo_concurrency]
lock_path = $OSL_DIR/nova
[notifications]
notification_format = versioned
[oslo_messaging_notifications]
# for the tests of functions/nova-notifications; a small bus keeps what nobody takes
driver = messagingv2
$(authtoken nova)
X
}

# not for nova-compute, which must not know the databases
nova_db_conf() { cat <<X
[api_database]
connection = $DB_URL/nova_api
[database]
connection = $DB_URL/nova_cell1
X
}

rabbitmq_conf() { cat <<X
listeners.tcp.1 = $IP:$AMQP_PORT
disk_free_limit.absolute = 100MB
vm_memory_high_watermark.absolute = 1GB
log.console = true
log.console.level = warning
log.file = false
X
}

compute_conf() { cat <<X
[DEFAULT]
host = $1
state_path = $OSL_DIR/compute/$1
[oslo_concurrency]
lock_path = $OSL_DIR/compute/$1
X
}

write_config() {
  mkdir -p "$ETC"/{placement,keystone} "$OSL_DIR"/{nova,rabbit,tmp} "$LOG" "$RUN"
  keystone_conf > "$ETC/keystone/keystone.conf"
  placement_conf > "$ETC/placement/placement.conf"
  nova_conf > "$ETC/nova.conf"
  nova_db_conf > "$ETC/nova-db.conf"
  rabbitmq_conf > "$ETC/rabbitmq.conf"
}
