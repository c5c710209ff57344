#!/bin/bash
# Slurm epilog of gpuscope: takes back what slurm_prolog.sh noted of a job. See docs/slurm.md.
#
#   slurm.conf:  Epilog=/etc/slurm/epilog.d/*
#
# It looks through all files, whatever the environment says of the job's GPUs now, so that no job stays behind. An
# epilog that fails drains the node: this one exits with 0 whatever happens.

# Slurm gives no search path.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
trap 'exit 0' EXIT
umask 022

folder=${GPUSCOPE_JOB_FOLDER:-/run/gpuscope/jobs}
job=${SLURM_JOB_ID:-}

note() {
  echo "gpuscope epilog: $*" >&2
}

[[ $job =~ ^[0-9]{1,10}$ && -d $folder ]] || exit 0
exec 9> "$folder/.lock" || exit 0
flock -w 5 9 || note "another epilog holds $folder/.lock"

for file in "$folder"/*; do
  if [[ ! -f $file || -L $file ]] || ! grep -qxE "$job([[:space:]].*)?" "$file"; then
    continue
  fi
  temporary="$folder/.${file##*/}.$$"
  grep -vxE "$job([[:space:]].*)?" "$file" > "$temporary"
  # 1: no line is left; more: it could not be read or written.
  case $? in
    0) mv -fT "$temporary" "$file" ;;
    1) rm -f "$file" "$temporary" ;;
    *) rm -f "$temporary"; note "cannot write $file" ;;
  esac
done
rm -f "$folder/jobs/$job"
