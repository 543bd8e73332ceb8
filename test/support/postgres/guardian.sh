# Runs a server, and outlives whoever started it by a moment: its standard input ends with the other process, however
# that ends, and then the server and its files go too.
#   guardian.sh FOLDER SIGNAL PROGRAM ARGUMENT...    says the server's process id, then waits for one line:
#   keep: a clean shutdown by SIGINT, the files stay;  another or the end of input: SIGNAL ends it at once, the files go
folder=$1
signal=$2
shift 2
"$@" </dev/null >/dev/null &
server=$!
echo "$server"
# From here on the server's processes alone hold the pipe of the log: it closes when the last of them is gone.
exec >/dev/null 2>&1
read -r wish || wish=remove
if [ "$wish" = keep ]; then
  kill -INT "$server"
  wait "$server"
else
  kill -s "$signal" "$server"
  wait "$server"
  rm -rf "$folder"
fi
