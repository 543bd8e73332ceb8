# Runs an object store of Ceph that keeps everything in memory: one monitor, one disk, one gateway.
#   rados-gateway.sh FOLDER MONITOR_PORT GATEWAY_PORT ACCESS_KEY SECRET_KEY    says "gateway ready" on standard error
set -e
cd "$1"
monitor=127.0.0.1:$2
id=$(cat /proc/sys/kernel/random/uuid)
disk=$(cat /proc/sys/kernel/random/uuid)
mkdir monitor disk
cat >ceph.conf <<END
[global]
fsid = $id
mon_host = $monitor
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
keyring = $1/keyring
run_dir = $1
admin_socket = $1/\$name.asok
log_file = /dev/null
mon_data = $1/monitor
mon_data_avail_crit = 0
mon_allow_pool_size_one = true
osd_data = $1/disk
osd_objectstore = memstore
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
rgw_frontends = beast endpoint=127.0.0.1:$3
END
export CEPH_CONF="$1/ceph.conf"
exec 3>&2 >ceph.log 2>&1
ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *'
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
ceph-authtool keyring --gen-key -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'
monmaptool --create --fsid "$id" --add a "$monitor" map
ceph-mon --mkfs -i a --monmap map --keyring keyring
ceph-mon -f -i a & running=$!
trap 'kill -KILL $running; wait; exit' TERM
ceph osd new "$disk"
ceph-osd --mkfs -i 0 --osd-uuid "$disk"
ceph-osd -f -i 0 & running="$running $!"
radosgw-admin -n client.admin user create --uid=test --display-name=test --access-key="$4" --secret-key="$5"
radosgw -f -n client.admin & running="$running $!"
until : >"/dev/tcp/127.0.0.1/$3"; do sleep 0.1; done
echo "gateway ready" >&3
wait
